// The tree of a game: its moves, with variations. A node is a move; its first child continues the main line.

const isOthello = (game) => game === "othello";

/// Creates the root of a tree, which is the first position.
export const createRoot = (position) => ({ parent: null, move: null, step: null, children: [], position, row: null });

/// Adds a move after a node, unless it is there already. `step` is the server's description of the move.
export function addChild(parent, step) {
  const known = parent.children.find((child) => child.move === step.move);
  if (known) return known;
  const node = { parent, move: step.move, step, children: [], position: null, row: null };
  parent.children.push(node);
  return node;
}

/// Returns the nodes from the first move to this one.
export function pathTo(node) {
  const path = [];
  for (let at = node; at.parent; at = at.parent) path.unshift(at);
  return path;
}

/// Returns the nodes from the first move through this one to the end of its line.
export function lineThrough(node) {
  const path = pathTo(node);
  for (let at = node; at.children.length; at = at.children[0]) path.push(at.children[0]);
  return path;
}

/// Yields the nodes after this one in the order of their text, with parentheses around variations.
function* tokens(node) {
  while (node.children.length) {
    const [main, ...others] = node.children;
    yield main;
    for (const other of others) { yield "("; yield other; yield* tokens(other); yield ")"; }
    node = main;
  }
}

/// Returns the root and all nodes in the order of their text. The index of a node in it is its number.
export const inOrder = (root) => [root, ...[...tokens(root)].filter((token) => typeof token !== "string")];

/// Formats moves with variations in parentheses after the move they replace: `f5d6(f4)c3`.
export const write = (root, game) => [...tokens(root)].map((token) => token.move ?? token).join(isOthello(game) ? "" : " ");

const splitMoves = (text, game) => {
  const words = text.toLowerCase().trim();
  return isOthello(game) ? words.replace(/\s+/g, "").match(/.{1,2}/g) ?? [] : words.split(/\s+/).filter(Boolean);
};

/// Parses the text of a tree to nodes with a move each; the moves are not checked.
export function parse(text, game) {
  const root = { parent: null, children: [] };
  const open = [];
  let node = root;
  for (const part of text.split(/([()])/)) {
    if (part === "(") {
      if (!node.parent) throw new Error("a variation follows no move");
      open.push(node);
      node = node.parent;
    } else if (part === ")") {
      if (!open.length) throw new Error("a parenthesis has no partner");
      node = open.pop();
    } else {
      for (const move of splitMoves(part, game)) {
        const child = { parent: node, move, children: [] };
        node.children.push(child);
        node = child;
      }
    }
  }
  if (open.length) throw new Error("a parenthesis has no partner");
  return root;
}

/// Returns the moves of every line of a tree, the main line first.
export function lines(root) {
  const all = [];
  const visit = (node, moves) => {
    if (!node.children.length) all.push(moves);
    for (const child of node.children) visit(child, [...moves, child.move]);
  };
  visit(root, []);
  return all;
}

/// Copies a tree. Positions and analyses are shared.
export function clone(node, parent = null) {
  const copy = { ...node, parent };
  copy.children = node.children.map((child) => clone(child, copy));
  return copy;
}

/// Returns the first move of the variation that contains a node; `null` on the main line.
export function variationOf(node) {
  for (let at = node; at.parent; at = at.parent) if (at.parent.children[0] !== at) return at;
  return null;
}

/// Removes a node and everything after it.
export function removeNode(node) { node.parent.children = node.parent.children.filter((child) => child !== node); }

/// Makes the line through a node the main line.
export function makeMain(node) {
  for (let at = node; at.parent; at = at.parent) {
    at.parent.children = [at, ...at.parent.children.filter((child) => child !== at)];
  }
}
