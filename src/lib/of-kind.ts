// Picking a member of a discriminated union by its kind.

/** The first member of the kind; undefined if there is none. */
export function ofKind<T extends { readonly kind: string }, K extends T['kind']>(
  items: readonly T[],
  kind: K,
): Extract<T, { readonly kind: K }> | undefined {
  return items.find((item): item is Extract<T, { readonly kind: K }> => item.kind === kind)
}
