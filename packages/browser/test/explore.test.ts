import { test } from 'vitest'
import { describeInChromium } from './chromium.ts'
import { serving } from './served.ts'
import { textOf, modesOf, metaOf } from './replies.ts'
import { writeFileSync, appendFileSync } from 'node:fs'
describeInChromium('explore', () => {
  const served = serving()
  test('x', async () => {
    const out = '/tmp/explore.txt'
    writeFileSync(out, '')
    const say = (l: string, v: unknown) => appendFileSync(out, `## ${l}\n${typeof v === 'string' ? v.slice(0, 3000) : JSON.stringify(v, null, 1)?.slice(0, 3000)}\n`)
    await served.calm('/second')
    const client = await served.connect()
    say('fresh', await modesOf(client))
    say('meta', await metaOf(client))
    await served.watch.browser.open(`${served.site.url}/busy`)
    const { page } = served.watch
    await new Promise((r) => setTimeout(r, 3000))
    await page.getByTestId('load').click()
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await page.getByText('It is a gift').click()
    await page.getByTestId('push').click()
    await new Promise((r) => setTimeout(r, 1500))
    say('modes', await modesOf(client))
    const go = async (tool: string, args: Record<string, unknown>) => say(`${tool} ${JSON.stringify(args)}`, textOf(await client.call(tool, args).catch((e) => ({ content: [{ type: 'text' as const, text: `THROWN ${e}` }] }))))
    await go('generate', { format: 'har' })
    for (const what of ['errors','logs','network','websocket_events','websocket_status','actions','vitals','page']) await go('observe', { what })
    say('modes', await modesOf(client))
    say('meta', await metaOf(client))
    for (const target of ['performance','api','accessibility','changes','timeline']) await go('analyze', { target })
    for (const format of ['reproduction','test','pr_summary','sarif','har']) await go('generate', { format })
    for (const action of ['health','buffers','filters','redaction']) await go('configure', { action })
    await go('configure', { action: 'save', name: 'a' }); await go('configure', { action: 'load' }); await go('configure', { action: 'clear' }); await go('configure', { action: 'load', session: 'a' })
    await go('query_dom', { selector: 'button' })
    for (const a of [{ what: 'nothing' }, { what: 'errors', since: 'x' }, { what: 'errors', cursor: 'x' }, { what: 'errors', limit: 'x' }, { what: 'network', status: 'zzz' }, { what: 'errors', url: 'x' }, { what: 'page', tab: 'tab-9' }]) await go('observe', a)
    for (const a of [{ target: 'changes', since: 99999999 }, { target: 'timeline', before: -4 }, { target: 'accessibility', selector: '###' }, { target: 'accessibility', tags: ['nonsense'] }, { target: 'accessibility', selector: '.nothing-here' }]) await go('analyze', a)
    for (const a of [{ format: 'har', file: '../x' }, { format: 'har', file: 'x' }, { format: 'har', file: 'x' }]) await go('generate', a)
    for (const a of [{ action: 'save', name: '../a' }, { action: 'load', session: 'zzz' }, { action: 'redaction', add: { name: 'x', pattern: '(a+)+$' } }, { action: 'redaction', add: { name: 'x', pattern: '[' } }, { action: 'redaction', remove: 'zzz' }, { action: 'buffers', kind: 'logs', entries: 0 }, {action: 'buffers', entries: 5}]) await go('configure', a)
    for (const selector of ['###', '//[', 'a >>> b', '.node']) await go('query_dom', { selector })
  }, 120000)
})
