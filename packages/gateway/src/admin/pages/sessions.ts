import { createHash, randomBytes } from 'node:crypto'

/** Who a browser is signed in as: the user who runs the gateway, or the holder of a token. */
export interface PageUser {
  /** Hash of the token in the configuration; absent for the user who runs the gateway. */
  readonly tokenHash?: string
}

const linkMs = 10 * 60_000
const sessionMs = 12 * 60 * 60_000
const maxLinks = 20
const maxSessions = 200

interface Session {
  readonly user: PageUser
  readonly until: number
}

/** A session outside this process: its id cannot be computed from the digest. */
export interface StoredSession extends PageUser {
  readonly digest: string
  readonly until: number
}

/** Where sessions are kept, so that a page does not have to sign in again after a restart of the gateway. */
export interface SessionStorage {
  read(): Promise<readonly StoredSession[]>
  write(sessions: readonly StoredSession[]): void
  /** Resolves when everything is written. */
  settled(): Promise<void>
}

/** Browsers that are signed in, and the one-time codes that sign them in. Codes end with the gateway. */
export class PageSessions {
  /** Digest of the code, and when it expires; oldest first. */
  readonly #links = new Map<string, number>()
  /** By digest of the session id; oldest first. */
  readonly #sessions = new Map<string, Session>()
  readonly #now: () => number
  readonly #storage: SessionStorage | undefined

  constructor(now: () => number = Date.now, storage?: SessionStorage) {
    this.#now = now
    this.#storage = storage
  }

  /** Continues the sessions of an earlier process. */
  async restore(): Promise<void> {
    for (const { digest: key, until, ...user } of (await this.#storage?.read()) ?? []) {
      // A changed clock must not make a session last longer.
      if (until > this.#now() && until <= this.#now() + sessionMs) this.#sessions.set(key, { user, until })
      dropOldest(this.#sessions, maxSessions)
    }
  }

  /** Creates a code that signs in one browser as the user who runs the gateway. */
  createLink(): { readonly code: string; readonly expiresAt: number } {
    const code = secret()
    const expiresAt = this.#now() + linkMs
    this.#links.set(digest(code), expiresAt)
    dropOldest(this.#links, maxLinks)
    return { code, expiresAt }
  }

  /** Exchanges a code for a session id; `undefined` if it was used, expired or never existed. */
  redeem(code: string): string | undefined {
    const key = digest(code)
    const expiresAt = this.#links.get(key)
    this.#links.delete(key)
    return expiresAt === undefined || expiresAt <= this.#now() ? undefined : this.signIn({})
  }

  /** Returns the id of a new session. */
  signIn(user: PageUser): string {
    const id = secret()
    this.#sessions.set(digest(id), { user, until: this.#now() + sessionMs })
    dropOldest(this.#sessions, maxSessions)
    this.#store()
    return id
  }

  userOf(id: string): PageUser | undefined {
    const key = digest(id)
    const session = this.#sessions.get(key)
    if (session === undefined) return undefined
    if (session.until > this.#now()) return session.user
    this.#sessions.delete(key)
    return undefined
  }

  signOut(id: string): void {
    if (this.#sessions.delete(digest(id))) this.#store()
  }

  /** Resolves when all sessions are stored. */
  async settled(): Promise<void> {
    await this.#storage?.settled()
  }

  #store(): void {
    this.#storage?.write([...this.#sessions].map(([key, { user, until }]) => ({ ...user, digest: key, until })))
  }
}

const secret = (): string => randomBytes(32).toString('base64url')

// Comparing digests does not reveal how much of a guess is right.
const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

function dropOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys()
  if (map.size > max && oldest !== undefined) map.delete(oldest)
}
