import type { NetworkRequest } from '../../records/records.ts'
import type { Plan, Step } from './steps.ts'
import { addressOf, generalizeUrl } from './url.ts'

/** Expected status of a kind of request during a step. */
export interface ExpectedResponse {
  readonly method: string
  /** URL without its query, with `*` for variable segments. */
  readonly url: URL
  readonly status: number
}

const maxPerStep = 10
// The page of a first step is requested shortly before it is recorded.
const openedWithinMs = 10_000
// Page and browser use different clocks. A step that is too late does no harm; one that is too early would time out.
const clocksDifferMs = 50
const method = /^[A-Z]{1,20}$/

/**
 * Returns the expected responses of each step. A request counts for the step in which it completed, so that waiting there never waits
 * for the effect of a later step.
 */
export function expectedResponses(
  plan: Plan,
  requests: readonly NetworkRequest[],
): ReadonlyMap<Step, readonly ExpectedResponse[]> {
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
      // With varying responses, only one that is unique within its step can be recognized.
      const isStable = statuses.size === 1 || more.length === 0
      const known = responses.get(step) ?? []
      if (first !== undefined && isStable && known.length < maxPerStep) responses.set(step, [...known, first])
    }
  }
  return responses
}

function responseOf(request: NetworkRequest, plan: Plan): ExpectedResponse | undefined {
  const { type, status, fromCache, failure } = request
  // Without a response there is no status, and a cached response depends on the cache.
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

/** True if a step led to this URL: then it was a page, not a frame. */
function isDestination(url: URL, { steps }: Plan): boolean {
  return steps.some(({ scriptAction, arrival }) => {
    const led = arrival?.url ?? (scriptAction.does === 'open' ? scriptAction.url : undefined)
    return led !== undefined && without(led) === without(url)
  })
}

/** Ignores third parties such as counters and advertising. */
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

/** Time of the request for the page that a first step opens. */
function loadOf({ tab, at, scriptAction }: Step, requests: readonly NetworkRequest[]): number | undefined {
  if (scriptAction.does !== 'open') return undefined
  const isIt = (request: NetworkRequest): boolean => {
    if (request.tab !== tab || request.type !== 'document' || request.startedAt > at) return false
    const url = addressOf(request.url)
    return url !== undefined && without(url) === without(scriptAction.url)
  }
  return requests.findLast(isIt)?.startedAt
}
