/* Testudo: balanced (AVL) trees of address ranges. SPDX-License-Identifier:
   BSD-2-Clause */
#include "code/tree.h"
#include "code/check.h"

/* An AVL tree of height h has more than 1.6^h nodes: 2^64 are below 96. */
enum { TREE_HEIGHT = 96 };

/* The links that lead from the root to a place, the last one included. */
typedef struct tree_path {
  tdo_tree_node_t **links[TREE_HEIGHT];
  size_t length;
} tree_path_t;

static size_t tree_height(const tdo_tree_node_t *node) {
  return node == NULL ? 0 : node->height;
}

static size_t tree_largest(const tdo_tree_node_t *node) {
  return node == NULL ? 0 : node->largest;
}

static void tree_update(tdo_tree_node_t *node) {
  node->height =
      1 + tdo_max(tree_height(node->left), tree_height(node->right));
  node->largest = tdo_max(node->size, tdo_max(tree_largest(node->left),
                                              tree_largest(node->right)));
}

/* The node at *LINK goes down to the right (left), and its left (right) child
   takes its place. */
static void tree_rotate_right(tdo_tree_node_t **link) {
  tdo_tree_node_t *down = *link, *up = down->left;
  down->left = up->right;
  up->right = down;
  *link = up;
  tree_update(down);
  tree_update(up);
}

static void tree_rotate_left(tdo_tree_node_t **link) {
  tdo_tree_node_t *down = *link, *up = down->right;
  down->right = up->left;
  up->left = down;
  *link = up;
  tree_update(down);
  tree_update(up);
}

/* Restore .balance and .largest at *LINK, whose children are in order. */
static void tree_mend(tdo_tree_node_t **link) {
  tdo_tree_node_t *node = *link;
  size_t left = tree_height(node->left), right = tree_height(node->right);
  if (left > right + 1) {
    if (tree_height(node->left->left) < tree_height(node->left->right)) {
      tree_rotate_left(&node->left);
    }
    tree_rotate_right(link);
  } else if (right > left + 1) {
    if (tree_height(node->right->right) < tree_height(node->right->left)) {
      tree_rotate_right(&node->right);
    }
    tree_rotate_left(link);
  } else {
    tree_update(node);
  }
}

static void tree_mend_path(const tree_path_t *path) {
  for (size_t i = path->length; i > 0; --i) {
    if (*path->links[i - 1] != NULL) {
      tree_mend(path->links[i - 1]);
    }
  }
}

static void tree_path_add(tree_path_t *path, tdo_tree_node_t **link) {
  TDO_CHECK(path->length < TREE_HEIGHT);
  path->links[path->length++] = link;
}

/* Follow the links to the node that begins at BASE, or to the empty place
   where it would be. */
static void tree_trace(tree_path_t *path, tdo_tree_t *tree, const char *base) {
  tdo_tree_node_t **link = &tree->root;
  path->length = 0;
  tree_path_add(path, link);
  while (*link != NULL && (*link)->base != base) {
    link = base < (*link)->base ? &(*link)->left : &(*link)->right;
    tree_path_add(path, link);
  }
}

void tdo_tree_init(tdo_tree_t *tree) {
  tree->root = NULL;
  tree->count = 0;
}

void tdo_tree_insert(tdo_tree_t *tree, tdo_tree_node_t *node) {
  tree_path_t path;
  TDO_CHECK(node->size > 0);
  tree_trace(&path, tree, node->base);
  tdo_tree_node_t **link = path.links[path.length - 1];
  TDO_CHECK(*link == NULL);
  node->left = node->right = NULL;
  *link = node;
  ++tree->count;
  tree_mend_path(&path);
}

/* The node at the end of PATH has two children: the lowest node to its right
   takes its place. */
static void tree_replace(tree_path_t *path) {
  size_t top = path->length;
  tdo_tree_node_t **link = path->links[top - 1];
  tdo_tree_node_t *node = *link;
  tdo_tree_node_t **least = &node->right;
  tree_path_add(path, least);
  while ((*least)->left != NULL) {
    least = &(*least)->left;
    tree_path_add(path, least);
  }
  tdo_tree_node_t *heir = *least;
  *least = heir->right;
  heir->left = node->left;
  heir->right = node->right;
  *link = heir;
  path->links[top] = &heir->right; /* it was in NODE */
}

void tdo_tree_remove(tdo_tree_t *tree, tdo_tree_node_t *node) {
  tree_path_t path;
  tree_trace(&path, tree, node->base);
  tdo_tree_node_t **link = path.links[path.length - 1];
  TDO_CHECK(*link == node);
  if (node->left != NULL && node->right != NULL) {
    tree_replace(&path);
  } else {
    *link = node->left != NULL ? node->left : node->right;
  }
  node->left = node->right = NULL;
  --tree->count;
  tree_mend_path(&path);
}

void tdo_tree_resize(tdo_tree_t *tree, tdo_tree_node_t *node, char *base,
                     size_t size) {
  tree_path_t path;
  TDO_CHECK(size > 0);
  tree_trace(&path, tree, node->base);
  TDO_CHECK(*path.links[path.length - 1] == node);
  node->base = base;
  node->size = size;
  tree_mend_path(&path);
}

tdo_tree_node_t *tdo_tree_at_or_below(const tdo_tree_t *tree,
                                      const void *addr) {
  tdo_tree_node_t *node = tree->root, *found = NULL;
  while (node != NULL) {
    if (node->base <= (const char *)addr) {
      found = node;
      node = node->right;
    } else {
      node = node->left;
    }
  }
  return found;
}

tdo_tree_node_t *tdo_tree_above(const tdo_tree_t *tree, const void *addr) {
  tdo_tree_node_t *node = tree->root, *found = NULL;
  while (node != NULL) {
    if (node->base > (const char *)addr) {
      found = node;
      node = node->left;
    } else {
      node = node->right;
    }
  }
  return found;
}

tdo_tree_node_t *tdo_tree_find(const tdo_tree_t *tree, const void *addr) {
  tdo_tree_node_t *node = tdo_tree_at_or_below(tree, addr);
  return node != NULL && (const char *)addr < node->base + node->size ? node
                                                                      : NULL;
}

tdo_tree_node_t *tdo_tree_first_fit(const tdo_tree_t *tree, size_t size) {
  tdo_tree_node_t *node = tree->root;
  if (node == NULL || node->largest < size) {
    return NULL;
  }
  for (;;) { /* there is one in the subtree of NODE, which is not empty */
    if (node->left != NULL && node->left->largest >= size) {
      node = node->left;
    } else if (node->size >= size) {
      return node;
    } else {
      node = node->right;
    }
  }
}

tdo_tree_node_t *tdo_tree_last_fit(const tdo_tree_t *tree, size_t size) {
  tdo_tree_node_t *node = tree->root;
  if (node == NULL || node->largest < size) {
    return NULL;
  }
  for (;;) {
    if (node->right != NULL && node->right->largest >= size) {
      node = node->right;
    } else if (node->size >= size) {
      return node;
    } else {
      node = node->left;
    }
  }
}

tdo_tree_node_t *tdo_tree_largest(const tdo_tree_t *tree) {
  return tdo_tree_first_fit(tree, tree_largest(tree->root));
}

tdo_tree_node_t *tdo_tree_first(const tdo_tree_t *tree) {
  tdo_tree_node_t *node = tree->root;
  while (node != NULL && node->left != NULL) {
    node = node->left;
  }
  return node;
}

tdo_tree_node_t *tdo_tree_next(const tdo_tree_t *tree,
                               const tdo_tree_node_t *node) {
  return tdo_tree_above(tree, node->base);
}

/* .balance and .largest of one node. */
static bool tree_check_node(const tdo_tree_node_t *node) {
  size_t left = tree_height(node->left), right = tree_height(node->right);
  size_t largest =
      tdo_max(tree_largest(node->left), tree_largest(node->right));
  return node->size > 0 && node->height == 1 + tdo_max(left, right) &&
         left <= right + 1 && right <= left + 1 &&
         node->largest == tdo_max(node->size, largest);
}

bool tdo_tree_check(const tdo_tree_t *tree) {
  const tdo_tree_node_t *before = NULL;
  size_t count = 0;
  for (tdo_tree_node_t *node = tdo_tree_first(tree); node != NULL;
       node = tdo_tree_next(tree, node)) {
    if (!tree_check_node(node) ||
        (before != NULL && before->base + before->size > node->base)) {
      return false; /* .order */
    }
    before = node;
    ++count;
  }
  return count == tree->count;
}
