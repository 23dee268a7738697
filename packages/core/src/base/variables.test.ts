// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configuration files look like this
import { describe, expect, test } from 'vitest'
import { expandVariables, replaceVariables, secretReferencesIn, type VariableSource } from './variables.ts'

const values: { readonly [name: string]: string } = {
  NAME: 'value',
  EMPTY: '',
  DOLLAR: '${NAME} $& $1',
  'ProgramFiles(x86)': 'C:\\Programs',
}
const variable = (name: string): string | undefined => (Object.hasOwn(values, name) ? values[name] : undefined)
const expand = (text: string, source: Partial<VariableSource> = {}) => expandVariables(text, { variable, ...source })
const none = { uses: [], unset: [], problems: [] }

describe('a text', () => {
  test.each([
    ['without a variable', 'a $ b $$ c {d} $5 }', 'a $ b $$ c {d} $5 }'],
    ['with a variable', 'a${NAME}b', 'avalueb'],
    ['with the prefix of editors', '${env:NAME}', 'value'],
    ['with a default that is not needed', '${NAME:-other}', 'value'],
    ['with a default for a variable that is not set', '${MISSING:-other}', 'other'],
    ['with a default for an empty variable', '${EMPTY:-other}', 'other'],
    ['with an empty default', 'a${MISSING:-}b', 'ab'],
    ['with a default that is JSON', '${MISSING:-{"a":1}}!', '{"a":1}!'],
    ['with a default that is JSON and not needed', '${NAME:-{"a":1}}!', 'value!'],
    ['with a default that has line breaks', '${MISSING:-a\nb}', 'a\nb'],
    ['with an empty variable', 'a${EMPTY}b', 'ab'],
    ['with a name of Windows', '${ProgramFiles(x86)}', 'C:\\Programs'],
    ['with an escaped reference', '$${NAME}', '${NAME}'],
    ['with a value that looks like a reference', '${DOLLAR}', '${NAME} $& $1'],
    ['with a bare name where those are not variables', '$NAME', '$NAME'],
  ])('%s', (_, text, expanded) => {
    expect(expand(text)).toMatchObject({ text: expanded, unset: [], problems: [] })
  })

  test('returns used and unset variables, each once', () => {
    expect(expand('${NAME} ${NAME} ${B} ${A} ${B} ${C:-c}')).toEqual({
      ...none,
      text: 'value value    c',
      uses: ['NAME'],
      unset: ['B', 'A'],
    })
  })

  test.each([
    ['an unknown reference', 'a${config:x}b', 'ab', { kind: 'unknown', inside: 'config:x' }],
    ['an empty reference', '${}', '', { kind: 'unknown', inside: '' }],
    ['a variable within a name', '${A${NAME}}', '', { kind: 'nested', inside: 'A${NAME}' }],
    ['a variable within a default', '${NAME:-${EMPTY}}', '', { kind: 'nested', inside: 'NAME:-${EMPTY}' }],
    ['a reference that does not end', 'pass${word', 'pass${word', { kind: 'unterminated', inside: '' }],
  ])('with %s has a problem', (_, text, expanded, problem) => {
    expect(expand(text)).toEqual({ ...none, text: expanded, problems: [problem] })
  })

  test('expands set bare names on request', () => {
    expect(expand('$NAME $MISSING $EMPTY $5', { bareNames: true })).toEqual({
      ...none,
      text: 'value $MISSING $EMPTY $5',
      uses: ['NAME', 'EMPTY'],
    })
  })

  test('supports predefined values, which are not environment variables', () => {
    const predefined = (inside: string): string | undefined => (inside === 'userHome' ? '/home/me' : undefined)
    expect(expand('${userHome}/${NAME}', { predefined })).toMatchObject({ text: '/home/me/value', uses: ['NAME'] })
  })
})

test('references are replaced without expansion, and escapes stay', () => {
  const replaced = replaceVariables('${a} $b $${c} ${d', { braced: (inside) => `<${inside}>`, bare: (name) => `(${name})` })
  expect(replaced).toBe('<a> (b) $${c} ${d')
})

test('references to secrets are found, but not escaped ones or variables with a default', () => {
  expect(
    secretReferencesIn('a ${keyring:team/x} ${file:a b.pem}${command:op read {id}} $${file:no} ${file:-no} ${env:NO}'),
  ).toEqual([
    { kind: 'keyring', argument: 'team/x', text: '${keyring:team/x}' },
    { kind: 'file', argument: 'a b.pem', text: '${file:a b.pem}' },
    { kind: 'command', argument: 'op read {id}', text: '${command:op read {id}}' },
  ])
})
