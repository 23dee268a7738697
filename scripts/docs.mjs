// npm run docs [-- --serve [--port <port>]]: builds the documentation site, or serves it with live reload.
import { tool } from './processes.mjs'
import { ensureInstalled } from './setup.mjs'
import { shown } from './steps.mjs'

const vitepress = 'vitepress/bin/vitepress.js'
const [first, ...rest] = process.argv.slice(2)

await ensureInstalled()
const { code } =
  first === '--serve'
    ? await tool(vitepress, ['dev', 'site', '--host', '127.0.0.1', ...rest], shown)
    : await tool(vitepress, ['build', 'site', ...process.argv.slice(2)], shown)
if (code === 0 && first !== '--serve') console.error('Built in site/dist. Preview: npm run docs -- --serve')
process.exitCode = code
