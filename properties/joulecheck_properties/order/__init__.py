"""Order within a class: more of everything is never slower."""
