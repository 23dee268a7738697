import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { queryDom } from '../dom/dom.ts'
import { dataReply } from '../reply/reply.ts'
import type { Toolbox } from './box.ts'
import { onTab, withoutSecrets } from './live.ts'
import type { Watch } from './watch.ts'

/** A live look at the elements of a page. */
export function addQueryDom(toolbox: Toolbox, watch: Watch): void {
  toolbox.tool(
    'query_dom',
    {
      title: 'Query the DOM',
      about: 'Look at the elements of the current page, as they are now, by CSS selector or XPath.',
      after: false,
      readOnly: true,
      input: z.object({
        selector: z
          .string()
          .min(1)
          .max(2_000)
          .describe('CSS, with >>> to go into a shadow root; or XPath, which begins with / or ('),
        limit: z.int().min(1).max(100).optional().describe('How many elements to show; 20 unless told'),
        html: z.boolean().optional().describe('Show the markup of each, shortened'),
        attributes: z.array(z.string().max(100)).max(20).optional().describe('Only these attributes'),
        properties: z
          .array(z.string().max(100))
          .max(20)
          .optional()
          .describe('Properties as they are now, such as checked or disabled'),
        styles: z.array(z.string().max(100)).max(20).optional().describe('CSS properties as they apply now, such as display'),
        frame: z.string().max(500).optional().describe("A frame's name, or a part of its address"),
        tab: z.string().optional().describe('The tab, such as tab-1; the current one unless told'),
      }),
    },
    async ({ tab, ...asked }, { signal }) => {
      const found = await onTab(watch, { tab, signal }, async (page, id, untilUnavailable) => ({
        tab: id,
        ...(await queryDom(page, { selector: asked.selector, ...defined(asked), signal: untilUnavailable })),
      }))
      const visibleJson = found.elements.length
      const count = found.total === visibleJson ? `${visibleJson}` : `${visibleJson} of ${found.total}`
      const note = `${count} ${found.total === 1 ? 'element matches' : 'elements match'}.`
      return dataReply(note, withoutSecrets(watch.recording.redactor, found))
    },
  )
}
