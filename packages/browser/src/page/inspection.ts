import type { CDPSession, Frame, Page } from 'playwright-core'
import { makeAria } from '../base/aria.ts'
import { createDomHelpers, type DomHelpers } from './dom-helpers.ts'
import { PageProblem } from './page-problem.ts'

export interface InspectionOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Frame of a page, including the main frame. */
export interface FrameInfo {
  readonly id: string
  readonly name: string
  readonly url: string
}

/** Runs in the page, in an isolated world. Self-contained, because its source text is sent. */
export type Script<A, R> = (input: A, dom: DomHelpers) => R | Promise<R>

interface FrameTarget extends FrameInfo {
  readonly session: CDPSession
  context?: Promise<number>
}

// Isolated world: the page can neither see nor change it.
const world = 'unfold-look'
const maxFrames = 50
// The browser ends the script at the time limit; this is the fallback.
const graceMs = 250
// Browser errors for a document that no longer exists.
const gone = /Cannot find context|context was destroyed|navigated or closed|No frame|Frame with the given|Promise was collected/

/** Inspects a page. Ends when the tab closes or crashes, and at its time limit. */
export async function inspectPage<T>(
  page: Page,
  options: InspectionOptions,
  work: (inspectPage: PageInspection) => Promise<T>,
): Promise<T> {
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
    // The inspection was aborted; the result of the work is ignored.
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

  /** The page has responded. */
  get isReached(): boolean {
    return this.#isReached
  }

  async enter(crash: () => void): Promise<void> {
    const session = await this.#open(this.#page)
    session.on('Inspector.targetCrashed', crash)
    // A crashed page reports it now and responds to nothing else.
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

  /** Runs a script in the page or one of its frames. */
  async run<A, R>(script: Script<A, R>, input: A, frame?: string): Promise<R> {
    const text = await this.#evaluate(
      await this.#place(frame),
      `(async () => JSON.stringify((await (${script.toString()})(${literal(input)}, globalThis.unfoldKit)) ?? null))()`,
    )
    return JSON.parse(String(text)) as R
  }

  /** Evaluates trusted source text in the page or one of its frames. */
  async load(source: string, frame?: string): Promise<void> {
    await this.#evaluate(await this.#place(frame), `${source}\n;0`)
  }

  /** Returns the frame of a frame element; `undefined` if there is no such element or the frame is not accessible. */
  async frameIn<A>(
    script: (input: A, dom: DomHelpers) => Element | null,
    input: A,
    frame?: string,
  ): Promise<FrameInfo | undefined> {
    const target = await this.#place(frame)
    const contextId = await this.#contextOf(target)
    const expression = `(${script.toString()})(${literal(input)}, globalThis.unfoldKit)`
    const { result } = await target.session.send('Runtime.evaluate', { expression, contextId, timeout: this.#left() })
    if (result.objectId === undefined) return undefined
    const { node } = await target.session.send('DOM.describeNode', { objectId: result.objectId })
    return node.frameId === undefined ? undefined : (await this.#frames()).get(node.frameId)
  }

  /** Lists up to 50 child frames. */
  async frames(): Promise<readonly FrameInfo[]> {
    return [...(await this.#frames()).values()].filter(({ id }) => id !== this.#main?.id)
  }

  async #place(frame: string | undefined): Promise<FrameTarget> {
    const target = frame === undefined ? this.#main : (await this.#frames()).get(frame)
    if (target === undefined) throw new PageProblem('frame', 'The frame no longer exists.')
    return target
  }

  async #frames(): Promise<Map<string, FrameTarget>> {
    if (this.#targets !== undefined) return this.#targets
    const targets = new Map<string, FrameTarget>()
    if (this.#main !== undefined) await collect(this.#main.session, targets)
    if (this.#main !== undefined) targets.set(this.#main.id, this.#main)
    for (const frame of this.#page.frames().slice(1, maxFrames)) {
      // A cross-site frame has its own process and session; others use the session of their parent.
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
  // `__proto__` has another meaning in an object literal than in JSON.
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
  return new PageProblem('closed', 'The tab was closed. Use another tab, or open the page again.', { cause })
}

function crashed(cause?: unknown): PageProblem {
  return new PageProblem('crashed', 'The page has crashed. Open it again in another tab.', { cause })
}

function cancelled(): PageProblem {
  return new PageProblem('cancelled', 'The call was cancelled.')
}

function navigated(cause: unknown): PageProblem {
  return new PageProblem('navigated', 'The page navigated during the inspection. Try again when it has settled.', { cause })
}

function busy(timeoutMs: number): PageProblem {
  return new PageProblem(
    'busy',
    `The page did not respond within ${timeoutMs / 1000} s: it is busy running a script, or a dialog is open. Try again when it is idle, or reload it.`,
  )
}

function slow(timeoutMs: number, cause?: unknown): PageProblem {
  return new PageProblem('slow', `The inspection took longer than ${timeoutMs / 1000} s. Request less.`, { cause })
}
