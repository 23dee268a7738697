import { literal } from './literal.ts'
import { elementCode } from './locator.ts'
import type { Plan, Step } from './steps.ts'
import { addressCode, arrivalCode, generalizeUrl } from './url.ts'

/** Returns the code that repeats a step. */
export function stepCode(step: Step, number: number, { origin }: Plan): readonly string[] {
  const { page, frame, scriptAction, arrival, opens } = step
  const lines: string[] = []
  const acts = actCode(step, `element${number}`, origin)
  if ('on' in scriptAction && scriptAction.on !== undefined) {
    if (frame !== undefined)
      lines.push(`const frame${number} = await frameAt(${page}, ${addressCode(generalizeUrl(frame), origin)})`)
    lines.push(`const element${number} = await ${elementCode(frame === undefined ? page : `frame${number}`, scriptAction.on)}`)
  }
  if ('secret' in scriptAction)
    lines.push(`// Secrets are not recorded: give this one in the environment as ${secretName(scriptAction.secret)}.`)
  // Awaited together: the effect can occur before the action completes.
  const meanwhile = [
    ...(opens === undefined ? [] : [`context.waitForEvent('page')`]),
    ...(arrival?.isSame ? [`${page}.waitForEvent('framenavigated', (frame) => frame === ${page}.mainFrame())`] : []),
  ]
  if (meanwhile.length === 0) lines.push(`await ${acts}`)
  else {
    const all = `await Promise.all([${[...meanwhile, acts].join(', ')}])`
    lines.push(opens === undefined ? all : `${opens} = (${all})[0]`)
  }
  if (opens !== undefined) lines.push(`await ${opens}.waitForLoadState('domcontentloaded')`)
  if (arrival?.isSame) lines.push(`await ${page}.waitForLoadState('domcontentloaded')`)
  else if (arrival !== undefined) {
    const { url, cause } = arrival
    lines.push(`await ${page}.waitForURL(${arrivalCode(url, cause, origin)}, { waitUntil: 'domcontentloaded' })`)
  }
  return lines
}

function actCode({ page, scriptAction }: Step, element: string, origin: string): string {
  const ready = `{ waitUntil: 'domcontentloaded' }`
  switch (scriptAction.does) {
    case 'open':
      return `${page}.goto(${addressCode(scriptAction.url, origin)}, ${ready})`
    case 'reload':
      return `${page}.reload(${ready})`
    case 'back':
      return `${page}.goBack(${ready})`
    case 'forward':
      return `${page}.goForward(${ready})`
    case 'click':
      return `${element}.click()`
    case 'submit':
      return `${element}.evaluate((form) => form instanceof HTMLFormElement && form.requestSubmit())`
    case 'fill':
      return `${element}.fill(${literal(scriptAction.value)})`
    case 'fill-secret':
      return `${element}.fill(process.env.${secretName(scriptAction.secret)} ?? '')`
    case 'select':
      return `${element}.selectOption(${scriptAction.values.length === 1 ? literal(scriptAction.values[0] ?? '') : `[${scriptAction.values.map(literal).join(', ')}]`})`
    case 'select-secret':
      return `${element}.selectOption(process.env.${secretName(scriptAction.secret)} ?? '')`
    case 'check':
      return `${element}.setChecked(${scriptAction.checked})`
    case 'press':
      return scriptAction.on === undefined
        ? `${page}.keyboard.press(${literal(scriptAction.key)})`
        : `${element}.press(${literal(scriptAction.key)})`
    default:
      return scriptAction.on === undefined
        ? `${page}.evaluate(() => window.scrollTo(${scriptAction.x}, ${scriptAction.y}))`
        : `${element}.evaluate((scrolled) => scrolled.scrollTo(${scriptAction.x}, ${scriptAction.y}))`
  }
}

function secretName(number: number): string {
  return `UNFOLD_SECRET_${number}`
}

/** Returns code that creates the page of a step if no earlier step has opened it. */
export function pageCode({ steps }: Plan, index: number): readonly string[] {
  const page = steps[index]?.page
  const isKnown = steps.slice(0, index).some((step) => step.page === page || step.opens === page)
  return isKnown || page === undefined ? [] : [`${page} = await context.newPage()`]
}

/** Returns comments about what the script does not contain. */
export function remarks({ leftOut }: Plan, older: number): string {
  const lines = [...leftOut].map(
    ([why, count]) => `// Left out: ${count} ${count === 1 ? 'action' : 'actions'}, because ${why}.\n`,
  )
  if (older > 0) lines.unshift(`// Left out: the ${older} oldest actions, because the script would have become too long.\n`)
  return lines.join('')
}

export function baseCode({ origin }: Plan, baseUrl: string | undefined): string {
  const base = baseUrl ?? (origin === 'null' ? 'http://localhost' : origin)
  return `const base = process.env.UNFOLD_BASE_URL ?? ${literal(base)}\n`
}

export function browserCode(executablePath: string | undefined): string {
  const otherwise = executablePath === undefined ? '' : ` ?? ${literal(executablePath)}`
  return `const executablePath = process.env.UNFOLD_BROWSER_PATH${otherwise}\n`
}
