import type { UserAction } from '../../records/records.ts'
import { baseCode, browserCode, pageCode, remarks, stepCode } from './code.ts'
import { fitNewest } from './fit-newest.ts'
import { helperCode } from './helpers.ts'
import { literal } from './literal.ts'
import { buildPlan, type Plan } from './steps.ts'

export interface ReproductionOptions {
  readonly title?: string
  /** Base URL of the site, if it differs from the recorded one. */
  readonly baseUrl?: string
  /** Browser to use unless the environment specifies one. */
  readonly executablePath?: string
  /** Maximum length in characters. The oldest actions are dropped first. */
  readonly limit?: number
}

/** Default maximum length of a script: about a hundred actions. */
export const scriptLimit = 60_000

/** Generates a Node script for playwright-core that repeats the actions; it fails with the step that could not be repeated. */
export function reproduction(actions: readonly UserAction[], options: ReproductionOptions = {}): string {
  const { limit = scriptLimit } = options
  return fitNewest(actions, limit, (kept, leftOut) => script(buildPlan(kept), leftOut, options))
}

function script(plan: Plan, leftOut: number, { title, baseUrl, executablePath }: ReproductionOptions): string {
  const steps = plan.steps.map((step, i) =>
    [`step(${literal(`${i + 1}. ${step.title}`)})`, ...pageCode(plan, i), ...stepCode(step, i + 1, plan)]
      .map((line) => `  ${line}\n`)
      .join(''),
  )
  const body = steps.join('\n')
  const pages = plan.pages.length === 0 ? ['page'] : plan.pages
  return `// ${title === undefined ? 'Repeats what was done in the browser' : literal(title)}
//
//   npm install playwright-core
//   node reproduction.mjs
//
// UNFOLD_BROWSER_PATH names the browser to use, UNFOLD_BASE_URL another server, UNFOLD_HEADED=1 shows the window.
${remarks(plan, leftOut)}import { chromium } from 'playwright-core'

${baseCode(plan, baseUrl)}${browserCode(executablePath)}
const browser = await chromium.launch({
  ...(executablePath ? { executablePath } : { channel: 'chrome' }),
  headless: !process.env.UNFOLD_HEADED,
  // Chromium refuses to run in its sandbox as root.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
const context = await browser.newContext()
context.setDefaultTimeout(15_000)
let ${pages.join(', ')}
let current = 'the start'

try {
${body}
  console.log('All ${plan.steps.length} steps were repeated.')
} catch (error) {
  console.error(\`Failed at \${current}\\n\${error instanceof Error ? error.message : error}\`)
  process.exitCode = 1
} finally {
  await browser.close()
}

/** Notes what comes now, so that a failure can say where it was. */
function step(what) {
  current = what
  console.log(what)
}

${helperCode(body, 'js')}`.replace(/\n+$/, '\n')
}
