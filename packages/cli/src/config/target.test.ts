// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configurations look like this
import { describe, expect, test } from 'vitest'
import { maskedTarget } from './target.ts'

const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'

describe('a masked target', () => {
  test('hides values of env and headers, but not references to variables', () => {
    const env = { TOKEN: 'abc', PLAIN: '${TOKEN}', MIXED: 'abc${TOKEN}', DEFAULT: '${TOKEN:-hunter2}', EMPTY: '' }
    expect(maskedTarget({ command: 'npx', env })).toEqual({
      command: 'npx',
      env: { TOKEN: '***', PLAIN: '${TOKEN}', MIXED: '***', DEFAULT: '***', EMPTY: '' },
    })
    const headers = { Authorization: 'Bearer abc', 'X-Key': 'Bearer ${env:KEY}' }
    expect(maskedTarget({ url: 'https://a.example/mcp', headers })).toEqual({
      url: 'https://a.example/mcp',
      headers: { Authorization: '***', 'X-Key': 'Bearer ${env:KEY}' },
    })
  })

  test.each([
    [
      ['--api-key', 'abc', '--port', '3000'],
      ['--api-key', '***', '--port', '3000'],
    ],
    [
      ['--token=abc', '--verbose'],
      ['--token=***', '--verbose'],
    ],
    [['--token=${TOKEN}'], ['--token=${TOKEN}']],
    [['PASSWORD=abc'], ['PASSWORD=***']],
    [
      ['-e', `GITHUB=${secret}`],
      ['-e', 'GITHUB=***'],
    ],
    [
      ['--header', 'Authorization: Bearer x'],
      ['--header', 'Authorization:***'],
    ],
    [
      ['-H', 'abc'],
      ['-H', '***'],
    ],
    [[secret], ['***']],
    [['postgres://ada:pw@db.example/app'], ['postgres://***@db.example/app']],
    [
      ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/some/folder/with/a/long/name/2026'],
      ['-y', '@modelcontextprotocol/server-filesystem', '/home/ada/some/folder/with/a/long/name/2026'],
    ],
  ])('hides secrets in arguments: %j', (args, shown) => {
    expect(maskedTarget({ command: 'npx', args })).toEqual({ command: 'npx', args: shown })
  })

  test.each([
    ['https://ada:pw@a.example/mcp', 'https://***@a.example/mcp'],
    ['https://a.example/mcp?key=abc&view=all', 'https://a.example/mcp?key=***&view=***'],
    ['https://a.example/mcp?key=${KEY}', 'https://a.example/mcp?key=${KEY}'],
    [`https://a.example/${secret}/mcp`, 'https://a.example/***/mcp'],
    [`https://a.example/mcp?${secret}`, 'https://a.example/mcp?***'],
    ['https://a.example:8080/v1/mcp', 'https://a.example:8080/v1/mcp'],
  ])('hides credentials in %s', (url, shown) => {
    expect(maskedTarget({ url })).toEqual({ url: shown })
  })
})
