// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of configurations look like this
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expand, type Variables } from './variables.ts'

const variables: Variables = {
  system: { platform: 'linux', home: '/home/ada', cwd: '/code/app/src', env: { TOKEN: 't0', EMPTY: '', USER_1: 'ada' } },
  folder: '/code/app',
  inputs: new Map([['api-key', 'The key of your account']]),
  bareNames: false,
}

describe('known variables', () => {
  test.each([
    ['${TOKEN}', 't0'],
    ['Bearer ${TOKEN}!', 'Bearer t0!'],
    ['${env:TOKEN}', 't0'],
    ['${TOKEN}${USER_1}', 't0ada'],
    ['${EMPTY}', ''],
    ['${MISSING:-fallback}', 'fallback'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${TOKEN:-fallback}', 't0'],
    ['${env:MISSING:-a:-b}', 'a:-b'],
    ['${MISSING:-}', ''],
    ['${workspaceFolder}/x', '/code/app/x'],
    ['${workspaceFolderBasename}', 'app'],
    ['${userHome}${/}bin${pathSeparator}', '/home/ada/bin/'],
    ['${cwd}', '/code/app/src'],
  ])('%s expands to %s', (written, meant) => {
    expect(expand(written, variables)).toMatchObject({ text: meant, problems: [] })
  })

  test('names are case-insensitive on Windows', () => {
    const system = { ...variables.system, platform: 'win32' as const, env: { Path: 'C:\\bin' } }
    expect(expand('${PATH}', { ...variables, system }).text).toBe('C:\\bin')
  })

  test('used environment variables are reported', () => {
    expect(expand('${TOKEN} ${USER_1:-x} ${MISSING:-y} ${userHome}', variables).uses).toEqual(['TOKEN', 'USER_1'])
  })
})

describe('dollar signs', () => {
  test.each([
    ['$${TOKEN}', '${TOKEN}'],
    ['pa$$word', 'pa$$word'],
    ['$TOKEN', '$TOKEN'],
    ['100$', '100$'],
    ['${', '${'],
  ])('%s is unchanged: %s', (written, meant) => {
    expect(expand(written, variables)).toMatchObject({ text: meant, problems: [] })
  })

  test('Gemini also expands $NAME, unless it is not set', () => {
    expect(expand('$TOKEN $MISSING', { ...variables, bareNames: true })).toMatchObject({ text: 't0 $MISSING', problems: [] })
  })
})

describe('invalid variables', () => {
  test.each([
    ['${}', '${} has no variable name'],
    [
      '${config:editor.font}',
      'unknown variable ${config:editor.font}. Supported: ${NAME}, ${NAME:-default}, ${env:NAME}, ${workspaceFolder}, ${userHome}',
    ],
    [
      '${input:api-key}',
      '${input:api-key} is an editor input ("The key of your account"), which is not available here. Use an environment variable instead: ${env:API_KEY}',
    ],
    [
      '${input:9}',
      '${input:9} is an editor input, which is not available here. Use an environment variable instead: ${env:NAME}',
    ],
  ])('%s is explained', (written, problem) => {
    expect(expand(written, variables).problems).toEqual([problem])
  })

  test.each([
    ['${MISSING}', ['MISSING']],
    ['${toString}', ['toString']],
    ['${env:ONE} ${TWO} ${ONE} ${THREE:-3}', ['ONE', 'TWO']],
  ])('%s can be set later', (written, unset) => {
    expect(expand(written, variables)).toMatchObject({ unset, problems: [] })
  })

  test('all problems are reported', () => {
    expect(expand('${input:a}${}', variables).problems).toHaveLength(2)
  })
})

test('text without braces is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(!text.includes('{'))
      expect(expand(text, variables)).toEqual({ text, uses: [], unset: [], problems: [] })
    }),
  )
})

test('doubled ${ round-trips', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('{', 'TOKEN', '}', ' ', ':-', '${')), (parts) => {
      const text = parts.join('')
      expect(
        expand(
          text.replaceAll('${', () => '$${'),
          variables,
        ),
      ).toMatchObject({ text, problems: [] })
    }),
  )
})
