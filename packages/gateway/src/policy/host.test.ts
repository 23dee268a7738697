import fc from 'fast-check'
import { expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { hostOf } from './host.ts'
import { hostList } from './host-list.ts'

const isGood = hostList(['good.example', '*.good.example', 'bücher.example', '10.0.0.0/8', '2a00:1450::/32'])

/** Whether the host of a text is in the list; `unknown` if programs do not agree on the host. */
function listed(text: string): boolean | 'unknown' {
  const host = hostOf(text)
  return host === undefined ? 'unknown' : isGood(host)
}

test.each([
  'https://good.example',
  'https://good.example/',
  'http://good.example:8080/a?b=c#d',
  'HTTPS://GOOD.Example/path',
  'wss://api.good.example/socket',
  '//good.example/x',
  'good.example',
  'good.example:443',
  'good.example./path',
  'good.example/@scope/package',
  'https://good.example/redirect?to=http://evil.example/@x',
  'https://bücher.example/',
  'https://xn--bcher-kva.example/',
  'https://10.1.2.3/',
  '10.1.2.3:80',
  'http://[::ffff:10.1.2.3]/',
  'http://[::ffff:a01:203]/',
  'http://[2a00:1450:4001::5]:443/',
])('%s is in the list', (text) => expect(listed(text)).toBe(true))

test.each([
  'https://evil.example',
  'https://good.example.evil.example/',
  'https://evilgood.example/',
  'https://evil.example/good.example',
  'https://evil.example/?good.example',
  'https://evil.example#good.example',
  'https://evil.example?x=https://good.example',
  'https://gооd.example/',
  'https://good。evil.example/',
  'http://11.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:11.1.2.3]/',
  'http://localhost/',
  'http://10.0.0.1.nip.example/',
])('%s is not in the list', (text) => expect(listed(text)).toBe(false))

test.each([
  ['user name', 'http://good.example@evil.example/'],
  ['user name and password', 'http://good.example:80@evil.example/'],
  ['several user names', 'http://a@good.example@evil.example/'],
  ['user name after a question mark', 'http://good.example?@evil.example/'],
  ['user name after a hash', 'http://good.example#@evil.example/'],
  ['backslash before the user name', 'http://good.example\\@evil.example/'],
  ['backslash', 'http://good.example\\.evil.example/'],
  ['backslashes instead of slashes', 'http:\\\\good.example/'],
  ['escape in the host', 'http://good%2eexample/'],
  ['escaped slash', 'http://good.example%2f.evil.example/'],
  ['escaped at sign', 'http://good.example%40evil.example/'],
  ['escaped twice', 'http://good.example%252f@evil.example/'],
  ['escaped URL', 'http%3A%2F%2Fgood.example'],
  ['line break', 'http://good.example\n.evil.example/'],
  ['tab', 'http://good.exa\tmple/'],
  ['NUL', 'http://good.example\0.evil.example/'],
  ['space', 'http://good.example .evil.example/'],
  ['leading space', ' http://good.example/'],
  ['soft hyphen', 'http://good.exam\u00adple/'],
  ['zero-width joiner', 'http://good\u200d.example/'],
  ['right-to-left mark', 'http://good\u200f.example/'],
  ['fullwidth slash', 'http://evil.example／.good.example/'],
  ['fullwidth hash', 'http://evil.example＃.good.example/'],
  ['fullwidth at sign', 'http://good.example＠evil.example/'],
  ['account symbol', 'http://evil.c℀.good.example/'],
  ['sharp s', 'http://faß.good.example/'],
  ['one slash', 'http:/good.example/'],
  ['no slash', 'http:good.example/'],
  ['three slashes', 'http:///good.example/'],
  ['empty label', 'http://good..example/'],
  ['two trailing dots', 'http://good.example../'],
  ['other scheme', 'file://good.example/etc/passwd'],
  ['scheme in a scheme', 'jar:http://good.example/'],
  ['script', 'javascript://good.example/%0aalert(1)'],
  ['data', 'data:text/html,good.example'],
  ['port that is not a number', 'http://good.example:80x/'],
  ['port beyond the range', 'http://good.example:99999/'],
  ['empty port', 'http://good.example:/'],
  ['semicolon', 'http://good.example;evil.example/'],
  ['comma', 'http://good.example,evil.example/'],
  ['decimal address', 'http://167772161/'],
  ['hexadecimal address', 'http://0x0a000001/'],
  ['hexadecimal part', 'http://0xa.0.0.1/'],
  ['octal address', 'http://012.0.0.1/'],
  ['leading zero', 'http://10.0.0.01/'],
  ['short address', 'http://10.1/'],
  ['address with an empty part', 'http://10.0..1/'],
  ['fullwidth digits', 'http://１0.0.0.1/'],
  ['circled digits', 'http://①0.0.0.1/'],
  ['unspecified address', 'http://0.0.0.0/'],
  ['zero', 'http://0/'],
  ['unspecified IPv6 address', 'http://[::]/'],
  ['compatible address', 'http://[::10.0.0.1]/'],
  ['translated address', 'http://[::ffff:0:10.0.0.1]/'],
  ['NAT64', 'http://[64:ff9b::10.0.0.1]/'],
  ['6to4', 'http://[2002:a00:1::]/'],
  ['Teredo', 'http://[2001:0:a00:1::]/'],
  ['mapped unspecified address', 'http://[::ffff:0.0.0.0]/'],
  ['zone', 'http://[fe80::1%25eth0]/'],
  ['unclosed bracket', 'http://[::1/'],
  ['empty text', ''],
  ['only a path', '/good.example'],
] as const)('%s: the host is unknown', (_, text) => {
  expect(listed(text)).toBe('unknown')
})

test('names of this machine are in a list with its addresses', () => {
  const isLocal = hostList(['127.0.0.0/8'])
  expect(['localhost', 'LOCALHOST.', 'app.localhost'].flatMap((name) => hostOf(name) ?? []).map(isLocal)).toEqual([
    true,
    true,
    true,
  ])
})

test('a text is in a list only if the URL parser of Node sees a host in the list, too', () => {
  const parts = fc.constantFrom(
    ...[
      'http',
      'https',
      ':',
      '/',
      '//',
      '\\',
      '@',
      '?',
      '#',
      '%2f',
      '%40',
      '.',
      '..',
      'good.example',
      'evil.example',
      '10.0.0.1',
    ],
    ...[
      '[',
      ']',
      '::1',
      '::ffff:',
      '0x7f',
      '0177',
      '2130706433',
      ' ',
      '\t',
      '。',
      '／',
      '：',
      'xn--',
      '*.',
      ':80',
      'ß',
      '\u00ad',
    ],
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 8 }), (each) => {
      const text = each.join('')
      const ours = hostOf(text)
      if (ours === undefined) return
      const url = /^https?:\/\/|^\/\//iu.test(text) ? new URL(text, 'http://base.example') : new URL(`http://${text}`)
      const theirs = url.hostname.replace(/^\[|\]$|\.$/gu, '')
      const isMapped = ours.kind === 'ipv4' && theirs.startsWith('::ffff:')
      if (!isMapped && theirs !== ours.value) throw new Error(`${text}: ${theirs} is not ${ours.value}`)
    }),
    propertyRuns({ long: 100_000, sample: 5_000 }),
  )
})
