import { ToolError } from '@unfold-mcp/server'
import type { Page } from 'playwright-core'
import { PageProblem } from '../page/page-problem.ts'
import { TabUnavailable } from '../page/watched.ts'
import type { Redactor } from '../redaction/redaction.ts'
import type { Watch } from './watch.ts'

/** Works with a tab's page as it is now. What pages and people do meanwhile is told to the model, and is no fault of ours. */
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

/** What was seen on a page, without its secrets: nothing of it was recorded, and nothing of it is told. */
export function withoutSecrets<T>(redactor: Redactor, seen: T): T {
  return redactor.value(seen)
}
