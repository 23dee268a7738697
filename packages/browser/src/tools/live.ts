import { ToolError } from '@unfold-mcp/server'
import type { Page } from 'playwright-core'
import { PageProblem } from '../page/page-problem.ts'
import { TabUnavailable } from '../page/watched-browser.ts'
import type { Redactor } from '../redaction/redaction.ts'
import type { Watch } from './watch.ts'

/** Works with the current page of a tab. Page problems become tool errors for the model. */
export async function onTab<T>(
  { browser }: Pick<Watch, 'browser'>,
  { tab: id, signal }: { readonly tab: string | undefined; readonly signal: AbortSignal },
  work: (page: Page, tab: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    const tab = browser.tab(id)
    return await tab.within((page) => work(page, tab.id, AbortSignal.any([signal, tab.signal])))
  } catch (error) {
    if (error instanceof TabUnavailable || error instanceof PageProblem) throw new ToolError(error.message, { cause: error })
    throw error
  }
}

/** Redacts data read from a page. */
export function withoutSecrets<T>(redactor: Redactor, seen: T): T {
  return redactor.value(seen)
}
