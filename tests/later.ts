// A list as what is read bit by bit.

export async function* later<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
