/** One client of a server: it sends bytes and hardly looks at what comes back, so that what is measured is the server. */
export interface Wire extends AsyncDisposable {
  /** Sends a request and waits for the whole answer, which it does not read. */
  ask(method: string, params?: object): Promise<Buffer>
  /** Called whenever the server says that its tools changed. */
  noticed: () => void
}

export const clientInfo = { name: 'bench', version: '1.0.0' }

/** What begins a session. */
export const initializeParams = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }

export const changed = 'notifications/tools/list_changed'

/** The number of the request that a message answers; `undefined` when it answers none. Not read, only searched at both ends. */
function idIn(message: Buffer): number | undefined {
  const ends =
    message.length < 400
      ? message.toString('latin1')
      : `${message.toString('latin1', 0, 100)} ${message.toString('latin1', message.length - 100)}`
  const found = /"id":(\d+)/u.exec(ends)
  return found === null ? undefined : Number(found[1])
}

/** Throws when an answer is a refusal, or says that the tool failed. */
export function successful(answer: Buffer): Buffer {
  const start = answer.toString('utf8', 0, 2_000)
  if (/"error":\{"code"|"isError":true/u.test(start)) throw new Error(`It was refused: ${start.slice(0, 300)}`)
  return answer
}

/** Requests that wait for their answers. */
export class Pending {
  readonly #waiting = new Map<number, { readonly resolve: (answer: Buffer) => void; readonly reject: (error: Error) => void }>()
  #id = 0

  begin(): { readonly id: number; readonly answer: Promise<Buffer> } {
    const id = ++this.#id
    const answer = new Promise<Buffer>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    return { id, answer }
  }

  /** Whether somebody waited for this. */
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

/** Cuts a stream at every `mark`, whatever the pieces it comes in. */
export function cutter(mark: string, onPart: (part: Buffer) => void): (chunk: Buffer) => void {
  const end = Buffer.from(mark)
  let held: Buffer[] = []
  let tail = Buffer.alloc(0)
  return (chunk) => {
    // A mark may lie across two pieces; only their seam is looked at again.
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
