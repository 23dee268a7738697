import { setTimeout as pause } from 'node:timers/promises'
import { Refused, Unknown } from './exchange.ts'
import type { SessionClient } from './session-client.ts'
import type { StatelessClient } from './stateless-client.ts'
import { reviewerToken } from './world.ts'

/** A call that a person approved once. */
export interface Approved {
  readonly nonce: string
  /** The replica confirmed the approval. */
  readonly isAcknowledged: boolean
  /** A call had no reply, so it may have used the approval without an effect: its replica died. */
  readonly isUnknown: boolean
}

interface Question {
  readonly id: string
}

const tool = 'work__guarded'
const callMs = 4_000

/** Makes several equal calls that need approval, at the same time, and approves one of them at one replica. */
export async function approvedCall(
  client: SessionClient,
  { nonce, port, calls }: { readonly nonce: string; readonly port: number; readonly calls: number },
): Promise<Approved> {
  const running = Array.from({ length: calls }, () => guardedCall(client, nonce))
  let isAcknowledged = false
  for (let attempt = 0; attempt < 20 && !isAcknowledged; attempt++) {
    await pause(100)
    const question = await questionFor(port, nonce)
    if (question === undefined) continue
    const reply = await admin(port, 'POST', { id: question.id, decision: 'once' })
    isAcknowledged = reply?.ok === true
    break
  }
  const outcomes = await Promise.all(running)
  return { nonce, isAcknowledged, isUnknown: outcomes.includes('unknown') }
}

/** Makes a call that needs approval, and gives up after a while. */
export async function guardedCall(client: SessionClient, nonce: string): Promise<'done' | 'refused' | 'unknown'> {
  try {
    await client.call(tool, { nonce }, callMs)
    return 'done'
  } catch (error) {
    if (error instanceof Refused) return 'refused'
    if (error instanceof Unknown) return 'unknown'
    throw error
  }
}

/** A call that its user approved at the client, with the state that must not work twice. */
export interface AnsweredCall {
  readonly nonce: string
  readonly requestState: string
}

/** Makes a call that needs approval, and repeats it twice at the same time with the approval. */
export async function answeredCall(client: StatelessClient, nonce: string): Promise<AnsweredCall | undefined> {
  const requestState = await client.ask(tool, { nonce }).catch(ignored)
  if (requestState === undefined) return undefined
  const answered = { nonce, requestState }
  const texts = await Promise.all([repeatAnswer(client, answered), repeatAnswer(client, answered)])
  return texts.some((text) => text?.startsWith('recorded')) ? answered : undefined
}

/** Sends the same approval again. */
export const repeatAnswer = (client: StatelessClient, { nonce, requestState }: AnsweredCall): Promise<string | undefined> =>
  client.approve(tool, { nonce }, requestState).catch(ignored)

function ignored(error: unknown): undefined {
  if (error instanceof Refused || error instanceof Unknown) return undefined
  throw error
}

async function questionFor(port: number, nonce: string): Promise<Question | undefined> {
  const reply = await admin(port, 'GET')
  const questions = reply?.ok === true ? ((await reply.json()) as readonly Question[]) : []
  return questions.find((question) => JSON.stringify(question).includes(nonce))
}

function admin(port: number, method: string, body?: object): Promise<Response | undefined> {
  return fetch(`http://127.0.0.1:${port}/api/approvals`, {
    method,
    headers: { authorization: `Bearer ${reviewerToken}`, 'content-type': 'application/json', connection: 'close' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => undefined)
}
