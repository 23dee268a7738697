import { createHash } from 'node:crypto'

/** What was started or contacted for a server, as far as it is known. */
export interface Run {
  /** Digest of command and arguments, which may contain secrets. */
  readonly command?: string
  readonly url?: string
  /** Name and version that the server reports. */
  readonly version?: string
  /** SHA-256 of the public key of the server's certificate. */
  readonly tlsKey?: string
}

export interface RunDifference {
  readonly what: keyof Run
  readonly before: string
  readonly after: string
}

export const commandDigest = (command: string, args: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([command, ...args]))
    .digest('hex')

/** Compares what is known of both. */
export function runDifferences(before: Run, after: Run): readonly RunDifference[] {
  return runKeys.flatMap((what) => {
    const [old, now] = [before[what], after[what]]
    return old === undefined || now === undefined || old === now ? [] : [{ what, before: old, after: now }]
  })
}

const runKeys = ['command', 'url', 'version', 'tlsKey'] as const
