/** What a {@linkcode DeadlineHeap} orders. It belongs to one heap at a time, which writes its fields. */
export interface HeapNode {
  /** When the node is due. Changed through {@linkcode DeadlineHeap.decrease} only. */
  deadline: number;
  /** Which of two nodes with one deadline was pushed first. */
  order: number;
  /** Where in the heap the node is, so that it can be moved without a search. */
  index: number;
}

/**
 * A binary min-heap of deadlines: the earliest first, equal ones in the order they were pushed.
 *
 * Nodes know their place, which makes {@linkcode DeadlineHeap.decrease} logarithmic. See Williams'
 * heapsort (CACM 7, 1964) for the structure; instead of swapping at each level, a hole is moved to where
 * the node belongs and filled once.
 */
export class DeadlineHeap<N extends HeapNode> {
  #nodes: N[] = [];
  #pushed = 0;

  get length(): number {
    return this.#nodes.length;
  }

  peek(): N | undefined {
    return this.#nodes[0];
  }

  push(node: N): void {
    node.order = this.#pushed++;
    this.#nodes.push(node);
    this.#siftUp(node, this.#nodes.length - 1);
  }

  pop(): N | undefined {
    const first = this.#nodes[0];
    const last = this.#nodes.pop();
    if (first === undefined || last === undefined) return undefined;
    if (last !== first) this.#siftDown(last);
    return first;
  }

  /** Moves a node of this heap to an earlier deadline. Among equals its place is still that of its push. */
  decrease(node: N, deadline: number): void {
    node.deadline = deadline;
    this.#siftUp(node, node.index);
  }

  clear(): void {
    this.#nodes = [];
  }

  #siftUp(node: N, index: number): void {
    const nodes = this.#nodes;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = nodes[parentIndex]!;
      if (!isBefore(node, parent)) break;
      nodes[index] = parent;
      parent.index = index;
      index = parentIndex;
    }
    nodes[index] = node;
    node.index = index;
  }

  /** Puts a node in place of the root. */
  #siftDown(node: N): void {
    const nodes = this.#nodes;
    const firstLeaf = nodes.length >> 1;
    let index = 0;
    while (index < firstLeaf) {
      let childIndex = 2 * index + 1;
      let child = nodes[childIndex]!;
      const right = nodes[childIndex + 1];
      if (right !== undefined && isBefore(right, child)) {
        childIndex++;
        child = right;
      }
      if (isBefore(node, child)) break;
      nodes[index] = child;
      child.index = index;
      index = childIndex;
    }
    nodes[index] = node;
    node.index = index;
  }
}

function isBefore(a: HeapNode, b: HeapNode): boolean {
  return a.deadline < b.deadline || (a.deadline === b.deadline && a.order < b.order);
}
