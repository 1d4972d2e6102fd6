// How passwords are kept: argon2id with OWASP's parameters (19 MiB, two passes; 24 ms here), off the main thread.

/** A port, because tests sign up hundreds of users. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  verify(password: string, hash: string): Promise<boolean>
}

/** At most two at a time: each holds 19 MiB, and a burst of sign-ins must not hold hundreds of them. */
export function argon2Passwords(atOnce = 2): PasswordHasher {
  const turn = turns(atOnce)
  return {
    hash: (password) =>
      turn(() => Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 })),
    verify: (password, hash) => turn(() => Bun.password.verify(password, hash)),
  }
}

function turns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((start) => waiting.push(start))
    else running += 1
    try {
      return await work()
    } finally {
      // Hand the slot directly to the next in line: if it were released first, a newcomer could take it.
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
