"""Installs kernels/, rules/ and templates/ inside the package.

A top-level module called ``kernels`` would shadow the package of that name which inference engines import.
"""

from setuptools import find_packages, setup

DATA_PACKAGES = {"analyzer.kernels": "kernels", "analyzer.rules": "rules", "analyzer.templates": "templates"}

setup(
    packages=[*find_packages(include=["analyzer", "analyzer.*"]), *DATA_PACKAGES],
    package_dir=DATA_PACKAGES,
    package_data={
        "": ["*.yml", "*.yaml", "*.j2", "*.json", "*.css"],
        "analyzer.profiles": ["*/*.yml", "*/*.py"],  # a profile's folder is data, not a package
    },
)
