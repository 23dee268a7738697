import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { queryDom } from '../dom/dom.ts'
import { dataReply } from '../reply/reply.ts'
import type { Toolbox } from './base-toolbox.ts'
import { onTab, withoutSecrets } from './live.ts'
import type { Watch } from './watch.ts'

/** Adds the `query_dom` tool. */
export function addQueryDom(toolbox: Toolbox, watch: Watch): void {
  toolbox.tool(
    'query_dom',
    {
      title: 'Query the DOM',
      description: 'Find elements of the current page by CSS selector or XPath.',
      after: false,
      readOnly: true,
      inputSchema: z.object({
        selector: z
          .string()
          .min(1)
          .max(2_000)
          .describe('CSS, with >>> to enter a shadow root; or XPath, which begins with / or ('),
        limit: z.int().min(1).max(100).optional().describe('Maximum number of elements; default: 20'),
        html: z.boolean().optional().describe('Include truncated markup'),
        attributes: z.array(z.string().max(100)).max(20).optional().describe('Only these attributes'),
        properties: z
          .array(z.string().max(100))
          .max(20)
          .optional()
          .describe('Current DOM properties, such as checked or disabled'),
        styles: z.array(z.string().max(100)).max(20).optional().describe('Computed CSS properties, such as display'),
        frame: z.string().max(500).optional().describe("A frame's name, or a part of its address"),
        tab: z.string().optional().describe('The tab, such as tab-1; default: the current one'),
      }),
    },
    async ({ tab, ...asked }, { signal }) => {
      const found = await onTab(watch, { tab, signal }, async (page, id, untilUnavailable) => ({
        tab: id,
        ...(await queryDom(page, { selector: asked.selector, ...defined(asked), signal: untilUnavailable })),
      }))
      const count = found.elements.length
      const shown = found.total === count ? `${count}` : `${count} of ${found.total}`
      const note = `${shown} ${found.total === 1 ? 'element matches' : 'elements match'}.`
      return dataReply(note, withoutSecrets(watch.recording.redactor, found))
    },
  )
}
