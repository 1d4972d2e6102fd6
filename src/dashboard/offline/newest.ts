// A page that is one file, for the service workers that keep one.

/** The newest that there is, which is kept as `page` in the cache of this name, or else what was kept last. Rejects if there is neither. */
export async function newest(request: Request, page: string, name: string): Promise<Response> {
  const cache = await caches.open(name)
  try {
    const answer = await fetch(request)
    if (answer.ok) await cache.put(page, answer.clone())
    return answer
  } catch (error) {
    const kept = await cache.match(page)
    if (kept) return kept
    throw error
  }
}
