"""The shape of `ops.yaml`: its keys and their types. What they mean is checked in `resolve`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
Expression = Annotated[str | int | float, Field(description="an expression of the formula language")]


class Model(BaseModel):
    """Base of every entry: unknown keys are errors, and nothing is coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True, frozen=True)


class Usual(Model):
    """A cheaper step, tried on packs of elements. Where it fits it must give the bits that `push` gives."""

    state: dict[Identifier, str] = Field(
        default={},
        description="further fields of a trial: `type = initial value`, which may read the run r",
    )
    push: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        description="the trial r after the element x: a value for each field of the run and of `state`"
    )
    fits: Expression = Field(
        description="whether the trial r of a whole pack counts; else `push` takes the pack in"
    )
    settle: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        default={}, description="the run after the pack, from the trial r; without it, r's own fields"
    )


class Run(Model):
    """How a lane takes in its elements one after another, where merging a state for each would cost much."""

    state: dict[Identifier, str] = Field(
        description="field: `type = initial value`, type compute, i64 or i32"
    )
    push: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        description="the run r after the element x, a value a field; `let` names sub-expressions"
    )
    begin: dict[Identifier, Expression] = Field(
        default={}, description="fields that a run sets from its first element x, before it takes in any"
    )
    usual: Usual | None = Field(
        default=None, description="a cheaper step, where all elements of a pack allow it"
    )
    close: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        description="the state that the run r amounts to, a value a field of the monoid's state"
    )


class Monoid(Model):
    """What can be reduced: a typed state with its identity, an element's state, and the merge of two."""

    doc: str
    of: Literal["compute", "bool"] = Field(default="compute", description="type of the elements x")
    constants: dict[Identifier, dict[Literal["f32", "f64"], float]] = Field(
        default={}, description="numbers that depend on the compute type"
    )
    state: dict[Identifier, str] = Field(description="field: `type = identity`, type compute or i64")
    lift: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        default={}, description="the state of one element x with number index, a value a field"
    )
    run: Run | None = Field(default=None, description="instead of lift: how a lane takes in its elements")
    merge: dict[Identifier, Expression | dict[Identifier, Expression]] = Field(
        description="the state of a and b together, a value a field; it must be commutative"
    )
    derived: dict[Identifier, Expression] = Field(
        default={}, description="named values of a state, which formulas read as they read its fields"
    )
    value: Expression | None = Field(default=None, description="what a formula sees; without it, the fields")
    numpy: str | None = Field(
        default=None,
        description="the aggregate of x over axes, for a `scale`: an expression over np, x and axes",
    )


class DescriptorField(Model):
    """One field of a family's descriptor."""

    type: Literal["shape", "axes", "extent", "element", "target", "storage", "f64", "i64", "bool", "option"]
    doc: str
    default: str | int | float | bool | None = Field(
        default=None,
        description="a value, another field's name, or for f64 `kind`: what the op's attribute says",
    )
    of: str | None = Field(default=None, description="for axes: the shape that they index")
    mask: Identifier | None = Field(
        default=None, description="for axes: another field that may give them, as the bits of a number"
    )
    only: Literal["forward", "backward"] | None = Field(
        default=None, description="the direction whose descriptor has the field; without it, both"
    )


class Tensor(Model):
    """One tensor argument of a plan."""

    io: Literal["in", "out", "scratch"] = Field(
        description="in: read; out: written; scratch: memory for what is worked out on the way"
    )
    shape: str | list[str] = Field(
        description="an expression over the descriptor's fields; a list: any of several"
    )
    dtype: str | None = Field(
        default=None,
        description="the tensor's own dtype, f64, i64 or bool, or the field of type storage or target that "
        "decides it; without it, the descriptor's",
    )
    doc: str
    optional: bool = Field(default=False, description="may be None: an input not given, an output not wanted")
    given: Expression | None = Field(
        default=None, description="a condition on the descriptor without which the tensor must be None"
    )
    absent: int | float | None = Field(
        default=None, description="the value that formulas see of an input that is None"
    )
    role: Literal["element", "row", "column", "position", "pair", "mask"] = Field(
        default="element",
        description="element: read at each place of the domain; row: once a row; column: once a column; "
        "position: once a position; pair: once a pair; mask: at each place, of any shape that broadcasts",
    )
    shares: Identifier | None = Field(
        default=None,
        description="for an output of attention: the input whose heads may share memory, as its own may",
    )
    halves: list[Identifier] = Field(
        default=[],
        description="two tensors that this one holds side by side where the family's `halves` name an axis; "
        "formulas know them, and not this one",
    )
    layout: Literal["any", "inner", "contiguous"] = Field(
        default="any", description="any strides; innermost stride 1; or contiguous"
    )


class Pairs(Model):
    """Which elements of the innermost axis are pairs, in families whose kernels turn pairs."""

    extent: Identifier = Field(
        description="the extent that says how many elements are paired, from the first"
    )
    place: Identifier = Field(
        description="the option that says where a pair's elements lie: interleaved (2i and 2i + 1) or half "
        "(i and i + half the extent)"
    )


class SumTiles(Model):
    """The tiles of attention's sums of items with weights, and how a block's warps share them."""

    rows: int = Field(default=32, description="rows of a tile: keys, or queries")
    depth: int = Field(default=32, description="what is summed over in a stage")
    stages: int = Field(
        default=3, description="stages in shared memory, of which all but one are copied ahead"
    )
    down: int = Field(default=1, description="parts of the rows, a warp each")
    across: int = Field(default=1, description="parts of a head, a warp each")
    split: int = Field(
        default=1,
        description="of sums over queries: parts of a stage's depth, a group of warps each, whose sums are "
        "added at the end",
    )


class Halves(Model):
    """How a tensor holds two others, in families whose operands are halves of one tensor or tensors."""

    axis: Identifier = Field(
        description="the field with the axis along which the halves lie; (): they are tensors of their own"
    )
    swapped: Identifier = Field(description="the field of type bool that says whether the second is first")


class Tiles(Model):
    """The tiles that kernels of attention are made for."""

    heads: list[int] = Field(
        description="elements of a head that a block holds at once, ascending: a kernel each; longer heads "
        "go in several parts"
    )
    queries: int = Field(description="queries of a tile")
    keys: int = Field(description="keys that a block takes at once")
    rows: int = Field(default=16, description="queries of a warp")
    scores: int | None = Field(
        default=None, description="keys that a block takes at once where it sums nothing over them; as `keys`"
    )
    sums: SumTiles = Field(default=SumTiles(), description="tiles of the sums that gradients are")


class Family(Model):
    """A kernel shape with a plan: what its ops have in common."""

    doc: str
    template: Identifier = Field(description="templates/<template>.cu.j2, of baracuda or beside the spec")
    engine: Identifier | None = Field(
        default=None,
        description="for a template beside the spec: the template of baracuda whose kernels it has",
    )
    category: Identifier
    plan: Identifier = Field(description="stem of the plan classes: <plan>Plan, <plan>BackwardPlan")
    kind: Identifier = Field(description="name of the enum that tells the family's ops apart")
    dtypes: str | list[str] = Field(default=[], description="the dtypes of ops that name none")
    ulp: dict[str, int | float] = Field(default={}, description="error bounds where an op names none")
    sum_ulp: dict[str, int | float] = Field(
        default={}, description="what a gradient that is summed over broadcast axes adds to the error bounds"
    )
    default_kind: Identifier | None = Field(
        default=None, description="the op of a descriptor that names none: a member of the enum"
    )
    domain: Identifier = Field(description="the descriptor's field over whose elements the kernels run")
    axes: Identifier | None = Field(
        default=None, description="the descriptor's field with the aggregated axes"
    )
    pairs: Pairs | None = Field(default=None, description="the elements that come in pairs, for rotate")
    halves: Halves | None = Field(default=None, description="how tensors hold two others, in maps")
    tiles: dict[str, Tiles] = Field(
        default={}, description="for attention: the tiles of a dtype or dtype set"
    )
    shapes: dict[Identifier, list[Expression]] = Field(
        default={}, description="shapes made of the descriptor's extents, by name"
    )
    descriptor: dict[Identifier, DescriptorField]
    require: list[Expression] = Field(default=[], description="what a descriptor must satisfy")
    contraction: bool = Field(default=False, description="whether a * b + c may round once")
    forward: dict[Identifier, Tensor]
    backward: dict[Identifier, Tensor] = {}


class Attribute(Model):
    """A run-time scalar of a formula."""

    from_: Identifier = Field(alias="from", description="the descriptor's field that holds it")
    default: int | float | None = Field(
        default=None, description="its value where the descriptor gives none; for fields with `default: kind`"
    )
    require: Expression | None = Field(default=None, description="what its value must satisfy")
    wide: bool = Field(
        default=False,
        description="for f64 in maps: the kernel has it as a double, and computes in double what meets it",
    )


class Direction(Model):
    """The formulas of one direction; every key that is none of the words below names an output.

    `by OPTION` holds a block for each of the option's values, which adds to what stands beside it.
    """

    require: list[Expression] = Field(
        default=[], description="what a descriptor must satisfy in this direction"
    )
    let: dict[Identifier, Expression] = Field(default={}, description="named sub-expressions, in order")
    row: dict[Identifier, Expression] = Field(default={}, description="named aggregates of the row")
    takes: dict[Identifier, Literal["required", "optional"]] = Field(
        default={},
        description="saved tensors that the contract asks for, whether or not a formula reads them",
    )
    ulp: dict[str, int | float] = Field(
        default={}, description="error bounds of this direction, where they are not the op's"
    )
    packs: Literal[1, 2, 4] = Field(
        default=1,
        description="packs of 16 bytes that a thread of a contiguous map takes: more than one where its "
        "formulas take so many instructions that few threads with more work each are faster",
    )
    half_packs: Literal[1, 2, 4] | None = Field(
        default=None, description="the same for elements of 16 bits, where that is another number"
    )
    by: dict[str, dict[str, Direction]] = {}
    outputs: dict[Identifier, Expression] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        words = set(cls.model_fields) - {"outputs", "by"}
        options = {key: value for key, value in data.items() if str(key).startswith("by ")}
        return {
            **{key: value for key, value in data.items() if key in words},
            "by": {str(key).removeprefix("by ").strip(): value for key, value in options.items()},
            "outputs": {key: value for key, value in data.items() if key not in words and key not in options},
        }


class Op(Model):
    """One op."""

    family: Identifier
    doc: str
    kind: Identifier | None = Field(
        default=None, description="its member of the family's enum; without it, the op's name in capitals"
    )
    names: dict[Literal["torch", "jax", "numpy", "crate"], str] = Field(
        default={}, description="what others call it: PyTorch, JAX, NumPy, the crate baracuda-kernels"
    )
    dtypes: str | list[str] = Field(default=[], description="without it, the family's")
    attrs: dict[Identifier, Attribute] = {}
    options: dict[Identifier, list[Identifier]] = Field(
        default={},
        description="policies decided at compile time: a descriptor's field and its values, default first",
    )
    samples: dict[Identifier, list[int | float]] = Field(
        default={}, description="values of the descriptor's numbers that tests and the demo use"
    )
    host: Direction | None = Field(
        default=None,
        description="values that the host computes once a problem in 40 digits, with `let` and `by OPTION`",
    )
    forward: Direction
    backward: Direction | None = None
    ref_let: dict[Identifier, str] = Field(default={}, description="named parts of the references, in order")
    ref: dict[Identifier, str] = Field(
        description="independent expression an output, over np, scipy, mpmath, math"
    )
    holds: Expression | dict[Identifier, Expression] | None = Field(
        default=None,
        description="where the error bound holds, if not everywhere that the result fits its dtype: "
        "of every output, or a condition an output",
    )
    ulp: dict[str, int | float] = Field(
        default={},
        description="error bound a dtype or dtype set, in units in the last place; without it, the family's",
    )
    scale: dict[Identifier, Expression] = Field(
        default={},
        description="an output's magnitude for the bound, where more than the result (named `exact`)",
    )


class SpecFile(Model):
    """The whole file."""

    version: Literal[1]
    extends: Literal["baracuda"] | None = Field(
        default=None, description="baracuda: dtype sets, monoids and families of its own spec can be used"
    )
    dtypes: dict[Identifier, list[str]] = {}
    monoids: dict[Identifier, Monoid] = {}
    families: dict[Identifier, Family] = {}
    ops: dict[Identifier, Op] = {}
