import { describe, expect, test } from 'vitest'
import { codeIntelligence } from '../src/code-intelligence/suite.ts'
import { type Connected, connected, eras } from './connected.ts'

const suite = ['analyze', 'refactor', 'document', 'security_scan', 'dependency_audit']

async function activated(): Promise<Connected> {
  const session = await connected(codeIntelligence())
  await session.call('activate')
  return session
}

describe('the gate', () => {
  test('a new session sees only activate, whose description names the hidden tools', async () => {
    await using session = await connected(codeIntelligence())
    const { tools } = await session.client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(['activate'])
    expect(tools[0]?.description).toContain(suite.join(', '))
  })

  test('a hidden tool does not exist', async () => {
    await using session = await connected(codeIntelligence())
    await expect(session.call('analyze', { source: '', language: 'python' })).rejects.toThrow('Tool "analyze" not found')
  })

  test('activate reveals the suite, notifies the client, and can be called again', async () => {
    await using session = await connected(codeIntelligence())
    expect(await session.text('activate')).toContain('- security_scan(source: string')
    await expect.poll(() => session.notices).toBe(1)
    expect(await session.toolNames()).toEqual(['activate', ...suite])
    expect(await session.text('activate')).toContain('Already active')
  })

  test('an activation affects only its session', async () => {
    const served = codeIntelligence()
    await using first = await connected(served)
    await using second = await connected(served)
    await first.call('activate')
    expect(await second.toolNames()).toEqual(['activate'])
  })

  test('without sessions the suite is listed from the start', async () => {
    await using session = await connected(codeIntelligence(), { era: 'stateless' })
    expect(await session.toolNames()).toEqual(suite)
  })

  test.each(eras)('the same calls work in both eras (%s)', async (era) => {
    await using session = await connected(codeIntelligence(), { era })
    await session.call('activate')
    expect(await session.data('analyze', { source: 'def f(a):\n  return a\n', language: 'python' })).toMatchObject({
      functions: [{ name: 'f', parameters: ['a'] }],
    })
  })

  test('an unknown language is rejected with the known ones', async () => {
    await using session = await activated()
    await expect(session.call('analyze', { source: '', language: 'cobol' })).rejects.toThrow(/language.*python/u)
  })
})

const typescript = `// A shop, { with braces in a comment
import { readFile } from 'node:fs/promises'
import def from "./default.ts"
const lazy = await import('./lazy.ts')

export class Shop {
  readonly #name: string

  constructor(private readonly name: string) {
    this.#name = name
  }

  async find<T extends object>(id: string, { deep = false }: { deep?: boolean } = {}): Promise<{ found: T }> {
    if (id === '}') {
      for (const part of id) {
        if (part && deep) throw new Error(\`no \${part ? '{' : "}"}\`)
      }
    }
    return { found: /[/}]/.test(id) ? {} as T : {} as T }
  }
}

/** Already documented. */
export function total(prices: number[], rate = 0.2): number {
  return prices.reduce((sum, price) => sum + price, 0) * (1 + rate)
}

export const double = (value: number): number => value * 2

export const later = async value => {
  return value ?? 3
}

function hidden() {}
export { hidden as shown }
`

const python = `"""A module: def not_a_function(): pass"""
import os, sys
from pathlib import Path as P


class Reader(Base):
    def read(self, path: str, *, limit=10, **rest) -> str:
        # if this were code
        if path and limit:
            for line in open(path):
                while True:
                    pass
        return "if x: " + path

    def _hidden(self):
        """Documented."""
        return 1


async def main(): print('hi')
`

describe('analyze', () => {
  test('TypeScript: functions, classes, imports and lines', async () => {
    await using session = await activated()
    const analysis = await session.data('analyze', { source: typescript, language: 'typescript' })
    expect(analysis).toEqual({
      language: 'typescript',
      lines: { total: 35, code: 26, comment: 2, blank: 7 },
      imports: [
        { module: 'node:fs/promises', line: 2 },
        { module: './default.ts', line: 3 },
        { module: './lazy.ts', line: 4 },
      ],
      classes: [{ name: 'Shop', line: 6 }],
      functions: [
        { name: 'constructor', line: 9, lines: 3, parameters: ['name'], exported: false, nesting: 0, complexity: 1 },
        { name: 'find', line: 13, lines: 8, parameters: ['id', 'options'], exported: false, nesting: 2, complexity: 7 },
        { name: 'total', line: 24, lines: 3, parameters: ['prices', 'rate'], exported: true, nesting: 0, complexity: 1 },
        { name: 'double', line: 28, lines: 1, parameters: ['value'], exported: true, nesting: 0, complexity: 1 },
        { name: 'later', line: 30, lines: 3, parameters: ['value'], exported: true, nesting: 0, complexity: 2 },
        { name: 'hidden', line: 34, lines: 1, parameters: [], exported: true, nesting: 0, complexity: 1 },
      ],
    })
  })

  test('Python: functions, classes, imports and lines', async () => {
    await using session = await activated()
    const analysis = await session.data('analyze', { source: python, language: 'python' })
    expect(analysis).toEqual({
      language: 'python',
      lines: { total: 20, code: 14, comment: 1, blank: 5 },
      imports: [
        { module: 'os', line: 2 },
        { module: 'sys', line: 2 },
        { module: 'pathlib', line: 3 },
      ],
      classes: [{ name: 'Reader', line: 6 }],
      functions: [
        { name: 'read', line: 7, lines: 7, parameters: ['path', 'limit', 'rest'], exported: true, nesting: 3, complexity: 5 },
        { name: '_hidden', line: 15, lines: 3, parameters: [], exported: false, nesting: 0, complexity: 1 },
        { name: 'main', line: 20, lines: 1, parameters: [], exported: true, nesting: 0, complexity: 1 },
      ],
    })
  })

  test('broken and hostile text is parsed in linear time', async () => {
    await using session = await activated()
    for (const source of [
      '/['.repeat(50_000),
      '`${'.repeat(30_000),
      'function a(){'.repeat(7_000),
      '"'.repeat(99_999),
      'const a '.repeat(12_000),
      'async\n'.repeat(16_000),
    ]) {
      await session.call('refactor', { source, language: 'typescript' })
      await session.call('security_scan', { source, language: 'typescript' })
    }
  })
})

describe('refactor', () => {
  const suggestionsFor = async (source: string, more: object = {}) => {
    await using session = await activated()
    const { suggestions } = await session.data<{
      suggestions: { kind: string; line: number; endLine: number; message: string }[]
    }>('refactor', { source, language: 'javascript', ...more })
    return suggestions
  }

  test('reports functions that are long, deeply nested, complex or have many parameters', async () => {
    const branches = Array.from({ length: 11 }, (_, n) => `  if (a) b(${'cdefghijklm'[n]})`).join('\n')
    const source = [
      'function deep(a) {\n  if (a) {\n    while (a) {\n      try {\n        if (a) { a() }\n      } finally { a() }\n    }\n  }\n}',
      'function many(a, b, c, d, e) {}',
      `function complex(a) {\n${branches}\n}`,
      `function long() {\n${Array.from({ length: 45 }, (_, n) => `  step${n}()`).join('\n')}\n}`,
    ].join('\n')
    expect((await suggestionsFor(source)).map(({ kind, line, endLine }) => [kind, line, endLine])).toEqual([
      ['deep nesting', 1, 9],
      ['many parameters', 10, 10],
      ['complex function', 11, 23],
      ['long function', 24, 70],
    ])
    expect((await suggestionsFor(source, { limits: { lines: 50 } })).map(({ kind }) => kind)).not.toContain('long function')
  })

  test('reports duplicated blocks with both locations', async () => {
    const block = ['  const a = one()', '  const b = two(a)', '  three(a, b)', '  four(b)', '  five(a)', '  six()'].join('\n')
    const found = await suggestionsFor(`function x() {\n${block}\n}\n\nfunction y() {\n${block.replaceAll('  ', '    ')}\n}\n`)
    expect(found).toEqual([
      { kind: 'duplicate block', line: 11, endLine: 16, message: 'Lines 11 to 16 repeat lines 2 to 7. Make them one function.' },
    ])
  })

  test('reports unnamed numbers and ignores named ones', async () => {
    const found = await suggestionsFor(
      'const limit = 42\nconst options = { size: 7 }\nwait(3600)\nif (x > 3600 && y === 1) stop("99")\n',
    )
    expect(found).toEqual([
      { kind: 'magic number', line: 3, endLine: 3, message: '3600 has no name (2 times: lines 3, 4). Make it a constant.' },
    ])
  })
})

describe('document', () => {
  test('adds JSDoc to exported functions without it', async () => {
    await using session = await activated()
    const { skeletons, documented } = await session.data<{
      skeletons: { name: string; beforeLine: number; comment: string }[]
      documented: string[]
    }>('document', { source: typescript, language: 'typescript' })
    expect(documented).toEqual(['total'])
    expect(skeletons.map(({ name, beforeLine }) => [name, beforeLine])).toEqual([
      ['double', 28],
      ['later', 30],
      ['hidden', 34],
    ])
    expect(skeletons[0]?.comment).toBe('/**\n * Double.\n * @param value TODO\n * @returns TODO\n */')
  })

  test('adds docstrings to Python functions, and to private functions on request', async () => {
    await using session = await activated()
    const source = 'class A:\n    def read_file(self, path):\n        return path\n\n    def _close(self):\n        pass\n'
    expect(await session.data('document', { source, language: 'python' })).toEqual({
      skeletons: [
        {
          name: 'read_file',
          beforeLine: 3,
          comment:
            '        """Read file.\n\n        Args:\n            path: TODO\n\n        Returns:\n            TODO\n        """',
        },
      ],
      documented: [],
    })
    expect(await session.data('document', { source, language: 'python', all: true })).toMatchObject({
      skeletons: [{ name: 'read_file' }, { name: '_close' }],
    })
  })
})

describe('security_scan', () => {
  interface Finding {
    readonly rule: string
    readonly line: number
    readonly severity: string
    readonly excerpt: string
  }

  const scanned = async (source: string, language: string): Promise<readonly Finding[]> => {
    await using session = await activated()
    return (await session.data<{ findings: Finding[] }>('security_scan', { source, language })).findings
  }
  const rulesAndLines = (findings: readonly Finding[]) =>
    [...findings].sort((a, b) => a.line - b.line).map(({ rule, line }) => `${line} ${rule}`)

  test('reports known problems in JavaScript', async () => {
    const source = [
      "import { exec } from 'node:child_process'",
      'eval(input)',
      'const f = new Function(input)',
      'setTimeout("run()", 10)',
      'element.innerHTML = input',
      `exec(\`ls \${input}\`)`,
      "spawn('ls', { shell: true })",
      'db.query("SELECT * FROM users WHERE id = " + id)',
      `db.query(\`DELETE FROM users WHERE id = \${id}\`)`,
      'https.request({ rejectUnauthorized: false })',
      "createHash('md5')",
      'const token = Math.random().toString(36)',
      "fetch('http://example.com/data')",
    ].join('\n')
    const findings = await scanned(source, 'javascript')
    expect(rulesAndLines(findings)).toEqual([
      '2 eval',
      '3 new-function',
      '4 text-as-timer',
      '5 html-injection',
      '6 shell-command',
      '7 shell-command',
      '8 sql-concatenation',
      '9 sql-concatenation',
      '10 certificates-unchecked',
      '11 weak-hash',
      '12 guessable-random',
      '13 unencrypted-address',
    ])
    const order = findings.map(({ severity }) => ['high', 'medium', 'low'].indexOf(severity))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
  })

  test('reports known problems in Python', async () => {
    const source = [
      'eval(data)',
      'exec(data)',
      'os.system("ls " + path)',
      'subprocess.run(command, shell=True)',
      'pickle.loads(data)',
      'yaml.load(data)',
      'cursor.execute("SELECT a FROM b WHERE c = \'%s\'" % c)',
      'cursor.execute(f"DELETE FROM b WHERE c = {c}")',
      'requests.get(url, verify=False)',
      'hashlib.md5(data)',
    ].join('\n')
    expect(rulesAndLines(await scanned(source, 'python'))).toEqual([
      '1 eval',
      '2 exec',
      '3 shell-command',
      '4 shell-command',
      '5 unsafe-deserialization',
      '6 unsafe-deserialization',
      '7 sql-concatenation',
      '8 sql-concatenation',
      '9 certificates-unchecked',
      '10 weak-hash',
    ])
  })

  test('secrets are found and redacted', async () => {
    const key = `AKIA${'Q7'.repeat(8)}`
    const findings = await scanned(`// ${key}\nconst password = 'correct-horse-battery'\n`, 'javascript')
    expect(rulesAndLines(findings)).toEqual(['1 known-key', '2 hard-coded-secret'])
    expect(JSON.stringify(findings)).not.toContain(key)
    expect(JSON.stringify(findings)).not.toContain('correct-horse-battery')
  })

  test('harmless look-alikes are ignored', async () => {
    const source = [
      '// eval(x) and password = "correct-horse-battery"',
      'pattern.exec(text)',
      "log('eval(x)')",
      'const html = element.innerHTML === other',
      `sql\`SELECT * FROM users WHERE id = \${id}\``,
      `const password = \`\${process.env.PASSWORD}\``,
      "const apiKey = 'your-api-key-here'",
      'retrieval(x); model.eval()',
    ].join('\n')
    expect(await scanned(source, 'javascript')).toEqual([])
    expect(await scanned('yaml.load(data, Loader=yaml.SafeLoader)\nmodel.eval()\n# exec(x)\n', 'python')).toEqual([])
  })
})

describe('dependency_audit', () => {
  const audited = async (manifest: object | string) => {
    await using session = await activated()
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
    return await session.data<{ dependencies: number; findings: { kind: string; where: string; severity: string }[] }>(
      'dependency_audit',
      {
        manifest: text,
      },
    )
  }

  test('every kind of version range is checked', async () => {
    const { dependencies, findings } = await audited({
      dependencies: {
        pinned: '1.2.3',
        aliased: 'npm:other@1.2.3',
        inside: 'workspace:*',
        caret: '^1.2.3',
        star: '*',
        latest: 'latest',
        above: '>=2',
        github: 'owner/repository#main',
        plain: 'http://example.com/package.tgz',
        tarball: 'https://example.com/package.tgz',
        local: 'file:../local',
      },
      peerDependencies: { react: '>=18 <20' },
    })
    expect(dependencies).toBe(12)
    expect(findings.map(({ where, kind, severity }) => `${severity} ${kind} ${where.split('.')[1]}`)).toEqual([
      'high any version star',
      'high any version latest',
      'high any version above',
      'high address plain',
      'medium address github',
      'medium address tarball',
      'low range caret',
      'low local local',
    ])
  })

  test('reports duplicates, deprecated packages and fields, and install scripts', async () => {
    const { findings } = await audited({
      preferGlobal: true,
      scripts: { postinstall: 'node x.js' },
      dependencies: { zod: '4.0.0', request: '2.88.2' },
      devDependencies: { zod: '3.0.0', react: '19.0.0' },
      peerDependencies: { react: '>=18' },
    })
    expect(findings.map(({ kind, where }) => `${kind}: ${where}`)).toEqual([
      'deprecated package: dependencies.request',
      'listed twice: devDependencies.zod',
      'install script: scripts.postinstall',
      'deprecated field: preferGlobal',
    ])
  })

  test('an invalid package.json is rejected with the reason', async () => {
    await expect(audited('{ nope')).rejects.toThrow('This is not JSON')
    await expect(audited({ dependencies: { a: 1 } })).rejects.toThrow(/not a package.json[\s\S]*dependencies\.a/u)
    await expect(audited('[]')).rejects.toThrow('not a package.json')
  })
})
