"""Parameters of components, and the annotations that declare them."""

from typing import Any, TypeAlias

# values by parameter name, as plain as in a scenario
Parameters: TypeAlias = dict[str, Any]
# annotation of a field: a class, a union, an array type or ``Annotated``
Annotation: TypeAlias = Any
