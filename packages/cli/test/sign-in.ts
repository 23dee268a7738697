import type { Ended, Home, RunOptions } from './command.ts'

/** Signs in like a user who opens the URL in a browser. */
export function signsIn(at: Home, args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return at.unfold(['login', ...args, '--no-browser'], {
    ...options,
    meanwhile: (child) => {
      const look = setInterval(() => {
        const [, address] = /Sign in at: (\S+)/u.exec(child.stderr()) ?? []
        if (address === undefined) return
        clearInterval(look)
        void fetch(address)
          .then((page) => page.text())
          .catch(() => undefined)
      }, 20)
      setTimeout(() => clearInterval(look), 15_000).unref()
    },
  })
}
