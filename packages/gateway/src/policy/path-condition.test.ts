import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { propertyRuns } from '../../../../test/runs.ts'
import { isInside } from './path-condition.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'unfold-path-')))
const data = join(root, 'data')
mkdirSync(join(data, 'sub'), { recursive: true })
mkdirSync(join(root, 'data-secret'))
mkdirSync(join(root, 'private', 'deep'), { recursive: true })
writeFileSync(join(root, 'private', 'key'), '')
writeFileSync(join(data, 'file.txt'), '')
symlinkSync(join(root, 'private'), join(data, 'out'))
symlinkSync('../private/key', join(data, 'key'))
symlinkSync(join(root, 'private', 'new'), join(data, 'dangling'))
symlinkSync(join(root, 'private', 'deep'), join(data, 'deep'))
symlinkSync('sub', join(data, 'near'))
symlinkSync('circle', join(data, 'circle'))
symlinkSync(data, join(root, 'alias'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const inside = (text: string, base?: string) => isInside(text, { folders: [data], base })
const up = relative(data, '/')

describe.skipIf(process.platform === 'win32')('paths', () => {
  test.each([
    [data],
    [`${data}/`],
    [`${data}/file.txt`],
    [`${data}/new/file.txt`],
    [`${data}//sub/./file.txt`],
    [`${data}/sub/../file.txt`],
    [`${data}/near/new.txt`],
    [`${root}/alias/file.txt`],
    [`file://${data}/file.txt`],
    [`FILE://localhost${data}/file.txt`],
    [`${data}/My%20File.txt`],
    [`${data}/100%25 sure.txt`],
    [`${data}/Größe ﬁ 日本語.txt`],
    [`${data}/version 1.0. notes`],
  ])('%s is inside', async (text) => expect(await inside(text)).toBe('yes'))

  test.each([
    ['another folder', '/etc/passwd'],
    ['a folder with the same start', `${root}/data-secret/x`],
    ['the parent', `${data}/..`],
    ['parents', `${data}/../private/key`],
    ['parents of a folder that does not exist', `${data}/missing/../../private/key`],
    ['more parents than there are', `${data}/../../../../../../../../../../../../etc/passwd`],
    ['a link to a folder', `${data}/out/key`],
    ['a link to a file', `${data}/key`],
    ['a link to a file that does not exist yet', `${data}/dangling`],
    ['a new file behind a link', `${data}/out/new/file`],
    ['another folder as a file URL', 'file:///etc/passwd'],
    ['the root', '/'],
  ])('%s is outside', async (_, text) => expect(await inside(text)).toBe('no'))

  test.each([
    ['escaped dots', `${data}/%2e%2e/private/key`],
    ['one escaped dot', `${data}/.%2e/private/key`],
    ['escaped slash', `${data}/..%2fprivate/key`],
    ['escaped twice', `${data}/%252e%252e/private/key`],
    ['escaped three times', `${data}/%25252e%25252e%25252fprivate/key`],
    ['escaped more often than anyone decodes', `${data}/%${'25'.repeat(80)}2e/x`],
    ['overlong dots', `${data}/%c0%ae%c0%ae/private/key`],
    ['overlong slash', `${data}/..%c0%afprivate/key`],
    ['escape of another standard', `${data}/%u002e%u002e/private/key`],
    ['backslashes', `${data}/..\\private\\key`],
    ['escaped backslash', `${data}/..%5cprivate%5ckey`],
    ['only backslashes', `${data.replaceAll('/', '\\')}\\file.txt`],
    ['fullwidth dots', `${data}/．．/private/key`],
    ['one dot leaders', `${data}/․․/private/key`],
    ['two dot leader', `${data}/‥/private/key`],
    ['ellipsis', `${data}/…/private/key`],
    ['ideographic full stops', `${data}/。。/private/key`],
    ['fullwidth slash', `${data}/..／private／key`],
    ['division slash', `${data}/..∕private∕key`],
    ['fraction slash', `${data}/..⁄private⁄key`],
    ['fullwidth backslash', `${data}/..＼private＼key`],
    ['trailing space', `${data}/.. /private/key`],
    ['three dots', `${data}/.../private/key`],
    ['dots and spaces', `${data}/. ./private/key`],
    ['trailing dot of the folder', `${data}./file.txt`],
    ['NUL', `${data}/file.txt\0/../../private/key`],
    ['escaped NUL', `${data}/file.txt%00`],
    ['line break', `${data}/file.txt\n/etc/passwd`],
    ['upper case', `${data.toUpperCase()}/file.txt`],
    ['mixed case', `${root}/Data/file.txt`],
    ['fullwidth letters', `${root}/ＤＡＴＡ/file.txt`],
    ['parent of a link', `${data}/deep/../file.txt`],
    ['parent of a link to a folder', `${data}/out/../data/../file.txt`],
    ['circle of links', `${data}/circle/x`],
    ['folder of the process', '/proc/self/cwd/file.txt'],
    ['root of the process', `/proc/self/root${data}/file.txt`],
    ['open file of the process', '/dev/fd/3'],
    ['relative path', 'file.txt'],
    ['relative path with a dot', './file.txt'],
    ['relative parents', `${up}etc/passwd`],
    ['home folder', '~/file.txt'],
    ['home folder of a user', '~root/file.txt'],
    ['variable', '$HOME/file.txt'],
    ['variable in braces', `\${HOME}/file.txt`],
    ['variable of Windows', '%USERPROFILE%/file.txt'],
    ['leading space', ` ${data}/file.txt`],
    ['drive', 'C:\\Windows'],
    ['drive with slashes', 'c:/Windows'],
    ['network folder', '\\\\server\\share'],
    ['file URL of another machine', `file://server${data}/file.txt`],
    ['file URL with parents', `file://${data}/../private/key`],
    ['file URL with escaped parents', `file://${data}/%2e%2e/private/key`],
    ['file URL with a hash', `file://${data}/#/../../private/key`],
    ['file URL with a query', `file://${data}/?/../../private/key`],
    ['file URL of a relative path', 'file:file.txt'],
    ['escaped file URL', `file%3A//${data}/file.txt`],
    ['other URL', `http://localhost${data}/file.txt`],
    ['URL in a URL', `view-source:file://${data}/file.txt`],
    ['empty text', ''],
    ['long text', `${data}/${'a/'.repeat(3_000)}`],
    ['deep path', `${data}/${'a/'.repeat(500)}`],
    ['quotes', `"${data}/file.txt"`],
  ])('%s does not count as inside', async (_, text) => {
    expect(await inside(text)).not.toBe('yes')
  })

  test.each([
    ['escaped dots', `${data}/%2e%2e/private/key`],
    ['backslashes', `${data}\\..\\private\\key`],
    ['a link', `${data}/out/key`],
    ['a link to a new file', `${data}/dangling`],
    ['upper case', `${root}/PRIVATE/key`],
    ['trailing dot', `${root}/private./key`],
    ['fullwidth letters', `${root}/ｐｒｉｖａｔｅ/key`],
    ['parent of a link', `${data}/deep/../key`],
    ['no path at all', '~/key'],
  ])('%s does not get past a rule that protects a folder', async (_, text) => {
    expect(await isInside(text, { folders: [join(root, 'private')], base: undefined })).not.toBe('no')
  })

  test('a relative path starts where the rule says', async () => {
    expect(await inside('sub/x', data)).toBe('yes')
    expect(await inside('../private/key', data)).toBe('no')
    expect(await inside('out/key', data)).toBe('no')
  })

  test('no combination of parts leads out of a folder unnoticed', async () => {
    const part = fc.constantFrom(
      ...[
        '..',
        '.',
        '',
        'sub',
        'out',
        'key',
        'near',
        'deep',
        'dangling',
        'missing',
        '%2e%2e',
        '.%2E',
        '%252e%252e',
        '..%2f..',
        '..\\..',
      ],
      ...['．．', '‥', '.. ', '...', '%2f', '∕', 'data', 'private', 'DATA', '%c0%ae', '\0', '~', '%', 'file:'],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 7 }), async (parts) => {
        const text = `${data}/${parts.join('/')}`
        if ((await inside(text)) !== 'yes') return
        // What any program might make of it: decoded or not, with `..` removed before or after links are followed.
        for (const reading of [
          text,
          safely(() => decodeURIComponent(text)) ?? text,
          text.normalize('NFKC'),
          text.replaceAll('\\', '/'),
        ])
          for (const path of [reading, join(reading)]) {
            const real = safely(() => realpathSync(path))
            if (real !== undefined && !`${real}/`.startsWith(`${data}/`)) throw new Error(`${text} leads to ${real}`)
          }
      }),
      propertyRuns({ long: 20_000, sample: 1_000 }),
    )
  })
})

function safely<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
