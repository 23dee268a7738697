import type { Key } from 'node:readline'
import { log, select } from '@clack/prompts'
import type { Elicitation, ElicitationResult } from '@unfold-mcp/client'
import { formOf } from '@unfold-mcp/core/form'
import { setProperty } from '../arguments/property.ts'
import { CommandError } from '../base/exit.ts'
import type { Io } from '../base/io.ts'
import { openAddress } from '../base/open-browser.ts'
import { safeText } from '../text/safe.ts'
import { confirmPrompt } from './confirm.ts'
import { askField } from './field.ts'
import { argumentCheck } from './form.ts'
import { promptTerminal, requireAnswer, type Terminal } from './terminal.ts'

const maxMessageLength = 2_000

/** Prompts for an elicitation. Esc cancels it; Ctrl-C interrupts the command. */
export async function askElicitation(question: Elicitation, signal: AbortSignal, io: Io): Promise<ElicitationResult> {
  const until = AbortSignal.any([signal, io.signal])
  const terminal = promptTerminal(io, until)
  let isInterrupt = false
  const watch = (_: unknown, key: Key | undefined): void => {
    isInterrupt = key?.ctrl === true && key.name === 'c'
  }
  io.stdin.on('keypress', watch)
  try {
    // Erases a progress bar.
    io.stderr.write('\r\u001b[2K')
    log.info(`The tool asks: ${safeText(question.message, { lines: true, limit: maxMessageLength })}`, terminal)
    return question.mode === 'url' ? await askUrl(question.url, until, io) : await askForm(question.schema, terminal, io)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    // In raw mode, the terminal does not send SIGINT itself.
    if (isInterrupt) process.emit('SIGINT')
    return { action: 'cancel' }
  } finally {
    io.stdin.off('keypress', watch)
  }
}

async function askForm(schema: Readonly<Record<string, unknown>>, terminal: Terminal, io: Io): Promise<ElicitationResult> {
  const options = [
    { value: 'accept' as const, label: 'Answer' },
    { value: 'decline' as const, label: 'Decline' },
  ]
  const action = requireAnswer(await select({ message: 'Respond?', options, ...terminal }))
  if (action === 'decline') return { action }
  const content: Record<string, string | number | boolean | string[]> = {}
  const tool = { name: 'answer', inputSchema: { ...schema, type: 'object' as const } }
  const asking = { io, signal: terminal.signal, check: argumentCheck(tool, content) }
  for (const field of formOf(tool.inputSchema).fields) {
    const isWanted =
      field.required || (await confirmPrompt(`${safeText(field.label, { limit: 200 })}: set a value?`, io, terminal.signal))
    if (isWanted) setProperty(content, field.name, await askField(field, asking))
  }
  return { action, content }
}

async function askUrl(address: string, signal: AbortSignal, io: Io): Promise<ElicitationResult> {
  const terminal = promptTerminal(io, signal)
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    log.warn(`Declined: ${safeText(address, { limit: 200 })} is not an http(s) URL.`, terminal)
    return { action: 'decline' }
  }
  const hidden =
    url.username === '' && url.password === '' ? '' : '\nWarning: the text before the @ is not part of the host name.'
  const plain = url.protocol === 'http:' ? '\nWarning: the connection is not encrypted.' : ''
  const what = `The tool asks you to open a page on ${url.host}:\n${safeText(url.href, { limit: maxMessageLength })}${hidden}${plain}\nOpen it in your browser?`
  if (!(await confirmPrompt(what, io, signal))) return { action: 'decline' }
  if (!(await openAddress(url, io))) log.info(`Cannot start a browser. Open this URL: ${url.href}`, terminal)
  return { action: 'accept' }
}
