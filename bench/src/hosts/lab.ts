import { plainAgent, type Wish } from './agents/plain.ts'
import type { Driver } from './drivers/driver.ts'
import type { Agent } from './endpoint/endpoint.ts'
import { Gateway } from './gateway.ts'
import { Offices } from './offices.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { type HostRun, runHost } from './run.ts'
import { proof } from './servers/replies.ts'

/** Exposures tested with every host; `auto` is the default and not written into the configuration. */
export const exposures = ['auto', 'search', 'everything', 'native', 'groups', 'lazy'] as const
export type Exposure = (typeof exposures)[number]

/** Gateway settings of one trial. */
export interface Trial {
  readonly exposure?: Exposure
  readonly transport?: 'http' | 'stdio'
  /** `large`: 43 tools, above the token budget. `small`: 9 tools, within it. */
  readonly catalogue?: 'large' | 'small'
  /** Additional gateway settings. */
  readonly config?: object
  readonly env?: Readonly<Record<string, string>>
}

/** Resources of a scenario while the host is running. */
export interface Stage {
  readonly gateway: Gateway
  readonly offices: Offices
}

/** The prompt for every host, by which endpoints recognise the conversation. */
export const prompt = 'Lab task 4711: do what is needed with reports/2026/summary.txt in the shared folder.'

/** The file in all scenarios. */
export const path = 'reports/2026/summary.txt'

// Expected text of the file server's prompt.
const promptText = `Review ${path} line by line.`

/** The tools that agents want to call. */
export const wishes = {
  read: wish('read_text_file', { path }, 'read the contents of a text file', proof.read),
  fail: wish('delete_file', { path }, 'delete a file', proof.error),
  image: wish('preview_image', { path }, 'preview of a picture', proof.image),
  long: wish('export_audit_log', { path }, 'export the access log of a file', 'access 0 by staff'),
  ask: wish('share_file', { path }, 'share a file with a link', 'The owner answered'),
  late: wish('rotate_picture', { path, degrees: 90 }, 'rotate a picture', proof.late),
} as const

/** Runs a host with one goal. */
export async function tryWish(
  driver: Driver,
  wanted: Wish,
  trial: Trial = {},
  agentOn: (stage: Stage) => Agent = () => plainAgent(wanted),
): Promise<{ readonly outcome: Outcome; readonly run: HostRun }> {
  const { exposure = 'auto', transport = 'http', catalogue = 'large', config = {}, env = {} } = trial
  await using offices = await Offices.open()
  await using gateway = await Gateway.configured({
    mcpServers: offices.config(catalogue === 'small' ? { count: 3 } : {}),
    ...(exposure !== 'auto' && { exposure }),
    budgetTokens: 2_000,
    ...config,
  })
  if (transport === 'http') await gateway.serve()
  const run = await runHost(driver, { gateway, agent: agentOn({ gateway, offices }), prompt, transport, env })
  return { outcome: outcomeOf(run, wanted, offices.calls), run }
}

/** Runs a host with the file server's prompt; the model must receive the text of that prompt. */
export async function tryPrompt(driver: Driver, args: readonly string[]): Promise<HostRun> {
  await using offices = await Offices.open()
  await using gateway = await Gateway.configured({ mcpServers: offices.config({ count: 3 }) })
  await gateway.serve()
  const agent: Agent = () => ({ kind: 'say', text: 'Reviewed.' })
  const run = await runHost(driver, { gateway, agent, prompt: promptText, args })
  return run
}

/** A wish for a tool of the file server. */
export function wish(tool: string, args: Record<string, unknown>, query: string, expect: string): Wish {
  return { server: 'files', tool: `files__${tool}`, arguments: args, query, expect }
}
