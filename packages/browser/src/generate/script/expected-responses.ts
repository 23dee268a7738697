import type { NetworkRequest } from '../../records/records.ts'
import { addressOf, generalizeUrl } from './address.ts'
import type { Plan, Step } from './steps.ts'

/** A status that the server gave to a kind of request while a step was done. */
export interface ExpectedResponse {
  readonly method: string
  /** Its address without the query, with `*` for parts that differ from run to run. */
  readonly url: URL
  readonly status: number
}

const maxPerStep = 10
// The page of a first step is asked for a moment before it is there.
const openedWithinMs = 10_000
// The page and the browser each read their own clock. Too late a step does no harm, too early a one would wait in vain.
const clocksDifferMs = 50
const method = /^[A-Z]{1,20}$/

/**
 * What the server answered in each step. A request counts for the step in which it was over: whoever repeats the steps and
 * waits there waits for nothing that a later step brings about.
 */
export function expectedResponses(plan: Plan, requests: readonly NetworkRequest[]): ReadonlyMap<Step, readonly ExpectedResponse[]> {
  const found = new Map<string, ObservedResponse>()
  for (const request of requests) {
    const response = responseOf(request, plan)
    const step = response && stepOf(request, plan.steps, requests)
    if (response === undefined || step === undefined) continue
    const key = `${response.method} ${response.url.href}`
    const observed = found.get(key) ?? { steps: new Map(), statuses: new Set() }
    found.set(key, observed)
    observed.statuses.add(response.status)
    observed.steps.set(step, [...(observed.steps.get(step) ?? []), response])
  }
  return byStep(found.values())
}

interface ObservedResponse {
  readonly steps: Map<Step, readonly ExpectedResponse[]>
  readonly statuses: Set<number>
}

function byStep(found: Iterable<ObservedResponse>): ReadonlyMap<Step, readonly ExpectedResponse[]> {
  const responses = new Map<Step, readonly ExpectedResponse[]>()
  for (const { steps, statuses } of found) {
    for (const [step, [first, ...more]] of steps) {
      // When it is answered now so, now so, only an answer that stands alone in its step can be told from the others.
      const isStable = statuses.size === 1 || more.length === 0
      const known = responses.get(step) ?? []
      if (first !== undefined && isStable && known.length < maxPerStep) responses.set(step, [...known, first])
    }
  }
  return responses
}

function responseOf(request: NetworkRequest, plan: Plan): ExpectedResponse | undefined {
  const { type, status, fromCache, failure } = request
  // Without an answer there is no status, and what a cache says depends on what it holds.
  if (status < 100 || status === 304 || fromCache || failure !== undefined || !method.test(request.method)) return undefined
  const url = addressOf(request.url)
  if (url === undefined || !isSameSite(url, plan.origin)) return undefined
  if (type !== 'fetch' && type !== 'xhr' && !(type === 'document' && isDestination(url, plan))) return undefined
  const path = new URL(url)
  path.search = ''
  path.hash = ''
  return { method: request.method, url: generalizeUrl(path), status }
}

const without = (address: URL): string => address.href.replace(/#.*$/s, '')

/** Whether a step led to this address, so that it was a page of its own and no frame. */
function isDestination(url: URL, { steps }: Plan): boolean {
  return steps.some(({ scriptAction, arrival }) => {
    const led = arrival?.url ?? (scriptAction.does === 'open' ? scriptAction.url : undefined)
    return led !== undefined && without(led) === without(url)
  })
}

/** Whether an address belongs to the site: what others answer (counters, advertising) says nothing about it. */
function isSameSite(url: URL, origin: string): boolean {
  if (!URL.canParse(origin)) return false
  const own = new URL(origin).hostname
  const site = (host: string): string => (/^[\d.]+$|:/.test(host) ? host : host.split('.').slice(-2).join('.'))
  return site(url.hostname) === site(own)
}

function stepOf(
  { tab, at, type, startedAt }: NetworkRequest,
  steps: readonly Step[],
  requests: readonly NetworkRequest[],
): Step | undefined {
  const own = steps.filter((step) => step.tab === tab)
  const step = own.findLast((each) => each.at - clocksDifferMs <= at)
  if (step !== undefined) return step
  const [first] = own
  if (first === undefined) return undefined
  if (type === 'document' && startedAt >= first.at - openedWithinMs) return first
  const loadedAt = loadOf(first, requests)
  return loadedAt !== undefined && startedAt >= loadedAt && startedAt <= loadedAt + openedWithinMs ? first : undefined
}

/** When the page was asked for that a first step opens. Nobody but the server went there, so the first action came later. */
function loadOf({ tab, at, scriptAction }: Step, requests: readonly NetworkRequest[]): number | undefined {
  if (scriptAction.does !== 'open') return undefined
  const isIt = (request: NetworkRequest): boolean => {
    if (request.tab !== tab || request.type !== 'document' || request.startedAt > at) return false
    const url = addressOf(request.url)
    return url !== undefined && without(url) === without(scriptAction.url)
  }
  return requests.findLast(isIt)?.startedAt
}
