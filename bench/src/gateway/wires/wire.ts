/** A minimal client that hardly parses responses, so that the server dominates the measurement. */
export interface Wire extends AsyncDisposable {
  /** Sends a request and waits for the complete response without parsing it. */
  ask(method: string, params?: object): Promise<Buffer>
  /** Called on each tools/list_changed notification. */
  noticed: () => void
}

export const clientInfo = { name: 'bench', version: '1.0.0' }

/** The messages that initialize a session. */
export const initializeParams = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }

export const changed = 'notifications/tools/list_changed'

/** Returns the request id of a response, or `undefined`. Searches both ends of the text instead of parsing it. */
function idIn(message: Buffer): number | undefined {
  const ends =
    message.length < 400
      ? message.toString('latin1')
      : `${message.toString('latin1', 0, 100)} ${message.toString('latin1', message.length - 100)}`
  const found = /"id":(\d+)/u.exec(ends)
  return found === null ? undefined : Number(found[1])
}

/** Throws if a response is an error or a failed tool result. */
export function successful(answer: Buffer): Buffer {
  const start = answer.toString('utf8', 0, 2_000)
  if (/"error":\{"code"|"isError":true/u.test(start)) throw new Error(`Request failed: ${start.slice(0, 300)}`)
  return answer
}

/** Pending requests. */
export class Pending {
  readonly #waiting = new Map<number, { readonly resolve: (answer: Buffer) => void; readonly reject: (error: Error) => void }>()
  #id = 0

  begin(): { readonly id: number; readonly answer: Promise<Buffer> } {
    const id = ++this.#id
    const answer = new Promise<Buffer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    return { id, answer }
  }

  /** Resolves a pending request; returns false if there is none. */
  settle(message: Buffer): boolean {
    const id = idIn(message)
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || waiting === undefined) return false
    this.#waiting.delete(id)
    waiting.resolve(message)
    return true
  }

  fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

/** Splits a stream at every `mark`, across chunk boundaries. */
export function cutter(mark: string, onPart: (part: Buffer) => void): (chunk: Buffer) => void {
  const end = Buffer.from(mark)
  let held: Buffer[] = []
  let tail = Buffer.alloc(0)
  return (chunk) => {
    // A mark may span two chunks; only the boundary is searched again.
    const seam = Buffer.concat([tail, chunk])
    if (!seam.includes(end)) {
      held.push(chunk)
      tail = seam.subarray(Math.max(0, seam.length - end.length + 1))
      return
    }
    let rest = Buffer.concat([...held, chunk])
    for (let at = rest.indexOf(end); at >= 0; at = rest.indexOf(end)) {
      onPart(rest.subarray(0, at))
      rest = rest.subarray(at + end.length)
    }
    held = [rest]
    tail = rest.subarray(Math.max(0, rest.length - end.length + 1))
  }
}
