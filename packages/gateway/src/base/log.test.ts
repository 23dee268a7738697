import { expect, test } from 'vitest'
import { createLog, type LogOptions } from './log.ts'

function written(options: Omit<LogOptions, 'stream'> & { isTTY?: boolean }) {
  const lines: string[] = []
  const { isTTY, ...rest } = options
  return { lines, log: createLog({ ...rest, stream: { write: (line) => lines.push(line), isTTY } }) }
}

test('JSON output has one object per line, for any content', () => {
  const { lines, log } = written({})
  log.debug({}, 'too little')
  log.warn({ upstream: 'git', error: new Error('It broke') }, 'a\nb\u001b[31m')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    upstream: 'git',
    message: 'a\nb\u001b[31m',
    error: { message: 'It broke' },
  })
  expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1)
  expect(lines[0]).not.toContain('\u001b')
})

test('text output has short lines without control sequences', () => {
  const { lines, log } = written({ isReadable: true, level: 'debug' })
  log.debug({ upstream: 'g\u0007it' }, 'a\nb\u001b[2J\u202e')
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d debug g\\u\{7\}it a\\u\{a\}b\\u\{1b\}\[2J\\u\{202e\}\n$/u)])
  const terminal = written({ isTTY: true })
  terminal.log.error({}, 'It broke')
  expect(terminal.lines[0]).toContain('\u001b[31merror\u001b[39m It broke')
})
