"""Writes a LightGBM model as `model.txt`, in the form that `activities/domain/text/src/page/model.rs` reads."""

import lightgbm


def flatten(tree: dict) -> str:
    nodes: list[str] = []

    def add(node: dict) -> int:
        at = len(nodes)
        nodes.append("")
        if "leaf_value" in node:
            nodes[at] = f"={node['leaf_value']:.4g}"
        else:
            left, right = add(node["left_child"]), add(node["right_child"])
            nodes[at] = f"{node['split_feature']}:{node['threshold']:.6g}:{left}:{right}"
        return at

    add(tree)
    return " ".join(nodes)


def export(model: lightgbm.Booster) -> str:
    trees = model.dump_model()["tree_info"]
    return "".join(flatten(tree["tree_structure"]) + "\n" for tree in trees)
