import type { CDPSession, Frame, Page } from 'playwright-core'
import { makeAria } from '../base/aria.ts'
import { type DomHelpers, createDomHelpers } from './dom-helpers.ts'
import { PageProblem } from './page-problem.ts'

export interface InspectionOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** A frame of a page, the page's own one included. */
export interface FrameInfo {
  readonly id: string
  readonly name: string
  readonly url: string
}

/** Runs in the page, beside its own scripts; its text is what is sent, so it must stand alone. */
export type Script<A, R> = (input: A, dom: DomHelpers) => R | Promise<R>

interface FrameTarget extends FrameInfo {
  readonly session: CDPSession
  context?: Promise<number>
}

// The page can neither see nor change what is in this world.
const world = 'unfold-look'
const maxFrames = 50
// The browser ends our script at the limit; only where it cannot say so do we have to.
const graceMs = 250
// What the browser says when the document that was looked at is no more.
const gone = /Cannot find context|context was destroyed|navigated or closed|No frame|Frame with the given|Promise was collected/

/** One look at a page: it ends at once when the tab closes or crashes, and at its time limit whatever the page does. */
export async function inspectPage<T>(page: Page, options: InspectionOptions, work: (inspectPage: PageInspection) => Promise<T>): Promise<T> {
  const { timeoutMs, signal } = options
  if (page.isClosed()) throw closed()
  if (signal?.aborted === true) throw cancelled()
  const inspection = new PageInspection(page, Date.now() + timeoutMs)
  let end: (problem: PageProblem) => void = () => undefined
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const onClose = (): void => end(closed())
  const onCrash = (): void => end(crashed())
  const onAbort = (): void => end(cancelled())
  const timer = setTimeout(() => end(inspection.isReached ? slow(timeoutMs) : busy(timeoutMs)), timeoutMs + graceMs)
  page.on('close', onClose)
  page.on('crash', onCrash)
  signal?.addEventListener('abort', onAbort)
  try {
    const done = inspection.enter(onCrash).then(() => work(inspection))
    // When something else ends the visit first, how the work ends is of no interest any more.
    done.catch(() => undefined)
    return await Promise.race([done, ended])
  } catch (error) {
    throw explain(error, page, timeoutMs)
  } finally {
    clearTimeout(timer)
    page.off('close', onClose)
    page.off('crash', onCrash)
    signal?.removeEventListener('abort', onAbort)
    inspection.leave()
  }
}

/** What a look at a page may use. */
export class PageInspection {
  readonly #page: Page
  readonly #deadline: number
  readonly #sessions: CDPSession[] = []
  #targets: Map<string, FrameTarget> | undefined
  #main: FrameTarget | undefined
  #isReached = false
  #isOver = false

  constructor(page: Page, deadline: number) {
    this.#page = page
    this.#deadline = deadline
  }

  /** Whether the page has answered at all. */
  get isReached(): boolean {
    return this.#isReached
  }

  async enter(crash: () => void): Promise<void> {
    const session = await this.#open(this.#page)
    session.on('Inspector.targetCrashed', crash)
    // A page that crashed before says so now, and answers nothing else.
    await session.send('Inspector.enable')
    const { frameTree } = await session.send('Page.getFrameTree')
    this.#main = { id: frameTree.frame.id, name: '', url: frameTree.frame.url, session }
    await this.#contextOf(this.#main)
    this.#isReached = true
  }

  leave(): void {
    this.#isOver = true
    for (const session of this.#sessions) session.detach().catch(() => undefined)
  }

  /** Runs a script in the page, or in one of its frames. */
  async run<A, R>(script: Script<A, R>, input: A, frame?: string): Promise<R> {
    const text = await this.#evaluate(
      await this.#place(frame),
      `(async () => JSON.stringify((await (${script.toString()})(${literal(input)}, globalThis.unfoldKit)) ?? null))()`,
    )
    return JSON.parse(String(text)) as R
  }

  /** Evaluates a text of our own in the page, or in one of its frames. */
  async load(source: string, frame?: string): Promise<void> {
    await this.#evaluate(await this.#place(frame), `${source}\n;0`)
  }

  /** The frame that an element of a frame shows; nothing when the script finds no such element, or the frame is out of reach. */
  async frameIn<A>(script: (input: A, dom: DomHelpers) => Element | null, input: A, frame?: string): Promise<FrameInfo | undefined> {
    const target = await this.#place(frame)
    const contextId = await this.#contextOf(target)
    const expression = `(${script.toString()})(${literal(input)}, globalThis.unfoldKit)`
    const { result } = await target.session.send('Runtime.evaluate', { expression, contextId, timeout: this.#left() })
    if (result.objectId === undefined) return undefined
    const { node } = await target.session.send('DOM.describeNode', { objectId: result.objectId })
    return node.frameId === undefined ? undefined : (await this.#frames()).get(node.frameId)
  }

  /** All frames of the page but its own, at most 50. */
  async frames(): Promise<readonly FrameInfo[]> {
    return [...(await this.#frames()).values()].filter(({ id }) => id !== this.#main?.id)
  }

  async #place(frame: string | undefined): Promise<FrameTarget> {
    const target = frame === undefined ? this.#main : (await this.#frames()).get(frame)
    if (target === undefined) throw new PageProblem('frame', 'That frame is gone.')
    return target
  }

  async #frames(): Promise<Map<string, FrameTarget>> {
    if (this.#targets !== undefined) return this.#targets
    const targets = new Map<string, FrameTarget>()
    if (this.#main !== undefined) await collect(this.#main.session, targets)
    if (this.#main !== undefined) targets.set(this.#main.id, this.#main)
    for (const frame of this.#page.frames().slice(1, maxFrames)) {
      // A frame of another site has a process, and so a session, of its own; the others are reached through their parent's.
      const session = await this.#open(frame).catch(() => undefined)
      if (session !== undefined) await collect(session, targets).catch(() => undefined)
    }
    this.#targets = targets
    return targets
  }

  async #open(target: Page | Frame): Promise<CDPSession> {
    const session = await this.#page.context().newCDPSession(target)
    if (this.#isOver) session.detach().catch(() => undefined)
    else this.#sessions.push(session)
    return session
  }

  #contextOf(target: FrameTarget): Promise<number> {
    target.context ??= this.#enterFrame(target)
    return target.context
  }

  async #enterFrame({ session, id }: FrameTarget): Promise<number> {
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: id, worldName: world })
    const expression = `globalThis.unfoldKit ??= (${createDomHelpers.toString()})(${makeAria.toString()}); 0`
    await session.send('Runtime.evaluate', { expression, contextId: executionContextId, timeout: this.#left() })
    return executionContextId
  }

  async #evaluate(target: FrameTarget, expression: string): Promise<unknown> {
    const contextId = await this.#contextOf(target)
    const { result, exceptionDetails } = await target.session.send('Runtime.evaluate', {
      expression,
      contextId,
      awaitPromise: true,
      returnByValue: true,
      timeout: this.#left(),
    })
    if (exceptionDetails !== undefined) {
      const { exception, text } = exceptionDetails
      const message = (exception?.description ?? text).split('\n', 1)[0]?.slice(0, 500)
      throw new PageProblem('script', `The page could not be read (${message}). Try another selector, or reload the page.`)
    }
    return result.value
  }

  #left(): number {
    return Math.max(1, this.#deadline - Date.now())
  }
}

async function collect(session: CDPSession, targets: Map<string, FrameTarget>): Promise<void> {
  const { frameTree } = await session.send('Page.getFrameTree')
  const waiting = [frameTree]
  for (let tree = waiting.shift(); tree !== undefined && targets.size < maxFrames; tree = waiting.shift()) {
    const { id, name = '', url } = tree.frame
    targets.set(id, { id, name: name.slice(0, 200), url: url.slice(0, 2_000), session })
    waiting.push(...(tree.childFrames ?? []))
  }
}

function literal(value: unknown): string {
  // A key such as `__proto__` means something else in a literal than in JSON.
  return `JSON.parse(${JSON.stringify(JSON.stringify(value))})`
}

function explain(error: unknown, page: Page, timeoutMs: number): unknown {
  if (error instanceof PageProblem) return error
  const message = error instanceof Error ? error.message : String(error)
  if (page.isClosed() || /has been closed|Target closed|session closed/i.test(message)) return closed(error)
  if (/crashed/i.test(message)) return crashed(error)
  if (/Execution was terminated|Internal error/.test(message)) return slow(timeoutMs, error)
  if (gone.test(message)) return navigated(error)
  return error
}

function closed(cause?: unknown): PageProblem {
  return new PageProblem('closed', 'The tab was closed. Look at another tab, or open the page again.', { cause })
}

function crashed(cause?: unknown): PageProblem {
  return new PageProblem('crashed', 'The page has crashed. Open it again in another tab.', { cause })
}

function cancelled(): PageProblem {
  return new PageProblem('cancelled', 'The call was cancelled.')
}

function navigated(cause: unknown): PageProblem {
  return new PageProblem('navigated', 'The page went elsewhere while it was looked at. Try again when it has settled.', { cause })
}

function busy(timeoutMs: number): PageProblem {
  return new PageProblem(
    'busy',
    `The page did not answer within ${timeoutMs / 1000} s: a script of its own keeps it busy, or a dialog is open. Try again when it is idle, or reload it.`,
  )
}

function slow(timeoutMs: number, cause?: unknown): PageProblem {
  return new PageProblem('slow', `Looking at the page took longer than ${timeoutMs / 1000} s. Ask for less of it.`, { cause })
}
