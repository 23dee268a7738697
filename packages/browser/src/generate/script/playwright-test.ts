import type { LogEntry, NetworkRequest, UserAction } from '../../records/records.ts'
import { baseCode, browserCode, pageCode, remarks, stepCode } from './code.ts'
import { type ExpectedResponse, expectedResponses } from './expected-responses.ts'
import { fitNewest } from './fit-newest.ts'
import { helperCode } from './helpers.ts'
import { isRedacted, literal } from './literal.ts'
import { type ReproductionOptions, scriptLimit } from './reproduction.ts'
import { buildPlan, type Plan, type Step } from './steps.ts'
import { addressCode, stablePart } from './url.ts'

export interface PlaywrightTestInput extends ReproductionOptions {
  readonly actions: readonly UserAction[]
  readonly logs?: readonly LogEntry[]
  readonly network?: readonly NetworkRequest[]
}

/** A test for @playwright/test that repeats the actions and expects of the page what it did when they were recorded. */
export function playwrightTest(input: PlaywrightTestInput): string {
  const { actions, limit = scriptLimit } = input
  return fitNewest(actions, limit, (kept, leftOut) => spec(buildPlan(kept), leftOut, input))
}

function spec(plan: Plan, leftOut: number, input: PlaywrightTestInput): string {
  const { title = 'what was done in the browser works', baseUrl, executablePath, logs = [], network = [] } = input
  const answers = expectedResponses(plan, network)
  const exceptions = logs.filter(({ from }) => from === 'exception').length
  const lastClick = plan.steps.findLast(({ scriptAction }) => scriptAction.does === 'click')
  const steps = plan.steps.map((step, i) => {
    const lines = [
      ...pageCode(plan, i),
      ...expectedBefore(step, step === lastClick, i + 1, stepCode(step, i + 1, plan)),
      ...expectedAfter(step, i + 1),
      ...(answers.get(step) ?? []).map((answer) => answeredCode(answer, plan)),
    ]
    return `  await test.step(${literal(`${i + 1}. ${step.title}`)}, async () => {\n${lines.map((line) => `    ${line}\n`).join('')}  })\n`
  })
  const body = [...steps, endCode(plan), exceptionsCode(exceptions)].join('\n')
  const [first = 'page', ...others] = plan.pages
  return `// UNFOLD_BROWSER_PATH names the browser to use, UNFOLD_BASE_URL another server.
${remarks(plan, leftOut)}import { expect,${body.includes('frameAt(') ? ' type Frame,' : ''} type Locator, type Page, test } from '@playwright/test'

${baseCode(plan, baseUrl)}${browserCode(executablePath)}
test.use({
  launchOptions: {
    ...(executablePath ? { executablePath } : {}),
    // Chromium refuses to run in its sandbox as root.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  },
})

test(${literal(title)}, async ({ context }) => {
  test.setTimeout(${60 + plan.steps.length * 5}_000)
  context.setDefaultTimeout(15_000)
  context.setDefaultNavigationTimeout(15_000)
  const exceptions: string[] = []
  const answers: ExpectedResponse[] = []
  context.on('weberror', (problem) => exceptions.push(problem.error().message))
  context.on('response', (response) => {
    answers.push({ method: response.request().method(), url: response.url(), status: response.status() })
  })
  let ${[first, ...others].map((page) => `${page}!: Page`).join(', ')}

${body}
  /** Expects that such a request was answered since it was last asked about, each time with this status. */
  async function answered(method: string, url: string, status: number): Promise<void> {
    const isMeant = (answer: ExpectedResponse): boolean => answer.method === method && isLike(answer.url, url)
    await expect.poll(() => answers.some(isMeant), { message: \`\${method} \${url} is answered\`, timeout: 15_000 }).toBe(true)
    const statuses = answers.filter(isMeant).map((answer) => answer.status)
    answers.splice(0, Infinity, ...answers.filter((answer) => !isMeant(answer)))
    expect(statuses, \`\${method} \${url} is answered with \${status}\`).toEqual(statuses.map(() => status))
  }
})

interface ExpectedResponse {
  readonly method: string
  readonly url: string
  readonly status: number
}

${helperCode(`${body} isLike(`, 'ts')}`.replace(/\n+$/, '\n')
}

/** The code of the step, with what must be true of its element before. Only what the last click met: all of them would be noise. */
function expectedBefore(step: Step, isLastClick: boolean, number: number, code: readonly string[]): readonly string[] {
  const { scriptAction } = step
  if (!isLastClick || scriptAction.does !== 'click') return code
  const { text } = scriptAction.on
  const found = code.findIndex((line) => line.startsWith('const element')) + 1
  const [find, act] = [code.slice(0, found), code.slice(found)]
  // A text with a number in it likely counts something.
  if (text === undefined || text.trim() === '' || text.length > 100 || /\d|…$/.test(text)) return code
  if (isRedacted(text)) return code
  return [...find, `await expect.poll(() => says(element${number}, ${literal(text)}), 'what it says').toBe(true)`, ...act]
}

/** What must be true of the step's element right after it. */
function expectedAfter({ scriptAction, arrival }: Step, number: number): readonly string[] {
  if (arrival !== undefined) return []
  if (scriptAction.does === 'fill')
    return [`await expect.poll(() => contentOf(element${number}), 'what it holds').toBe(${literal(scriptAction.value)})`]
  if (scriptAction.does === 'check') return [`await expect(element${number}).toBeChecked({ checked: ${scriptAction.checked} })`]
  return []
}

function answeredCode({ method, url, status }: ExpectedResponse, { origin }: Plan): string {
  return `await answered(${literal(method)}, ${addressCode(url, origin)}, ${status})`
}

/** Where the pages must be in the end. */
function endCode({ ends, origin, steps }: Plan): string {
  return [...ends]
    .filter(([page]) => steps.some((step) => step.page === page || step.opens === page))
    .map(([page, { url, cause }]) => {
      const like = stablePart(url, cause)
      const where = like === url ? addressCode(url, origin) : `(url) => isLike(url.href, ${addressCode(like, origin)})`
      return `  await expect(${page}).toHaveURL(${where})\n`
    })
    .join('')
}

function exceptionsCode(seen: number): string {
  if (seen === 0) return `  expect(exceptions, 'exceptions that nobody caught').toEqual([])\n`
  return `  // ${seen === 1 ? 'An exception was' : `${seen} exceptions were`} not caught when this was recorded, so none are ruled out.\n`
}
