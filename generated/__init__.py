"""What `baracuda-gen generate` made from ops.yaml.

Generated from ops.yaml by templates/plans.py.j2. Do not edit: run `baracuda-gen generate`.
"""
