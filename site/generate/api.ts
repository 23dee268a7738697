import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Application,
  type DeclarationReflection,
  type Options,
  type Reflection,
  ReflectionKind,
  ReflectionType,
  type SignatureReflection,
} from 'typedoc'
import { type MarkdownPageEvent, MarkdownTheme, MarkdownThemeContext } from 'typedoc-plugin-markdown'
import { repositoryFolder } from '../pages.ts'
import { unexportedTypes } from './unexported.ts'

const documented = ['server', 'client', 'gateway', 'browser']

/** One module that a package exports. */
interface EntryPoint {
  /** How it is imported: `@unfold-mcp/server/testing`. */
  readonly specifier: string
  readonly file: string
}

/** Writes a page for each module that the packages export, from its TypeScript types and doc comments. */
export async function writeApi(folder: string): Promise<void> {
  const entryPoints = documented.flatMap(entryPointsOf)
  const app = await Application.bootstrapWithPlugins({
    entryPoints: entryPoints.map(({ file }) => file),
    tsconfig: join(repositoryFolder, 'site/tsconfig.api.json'),
    basePath: repositoryFolder,
    plugin: ['typedoc-plugin-markdown'],
    logLevel: 'Error',
    // `npm run check` reports type errors.
    skipErrorChecking: true,
    readme: 'none',
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    excludeExternals: true,
    disableSources: true,
    groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables', '*'],
    ...markdownOptions,
  })
  app.renderer.defineTheme('site', SiteTheme)
  app.options.setValue('theme', 'site')
  const project = await app.convert()
  if (project === undefined) throw new Error('The API reference cannot be generated: the errors of typedoc are above')
  // typedoc's own check looks only at the types of one package.
  const unexported = unexportedTypes(project)
  if (unexported.length > 0) throw new Error(`Types in public signatures that no package exports:\n${unexported.join('\n')}`)
  for (const module of project.children ?? []) module.name = specifierOf(module, entryPoints)
  // typedoc's name for a parameter that is destructured in the signature.
  for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
    if (parameter.name === '__namedParameters') parameter.name = 'options'
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project)
  if (app.logger.hasErrors()) throw new Error('The API reference has errors: they are above')
}

// Options of the Markdown plugin, whose types typedoc does not know.
const markdownOptions: object = {
  router: 'module',
  entryFileName: 'index',
  excludeScopesInPaths: true,
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: true,
  // Anchors in the text of headings, so that links do not depend on how VitePress numbers equal headings.
  useCustomAnchors: true,
  customAnchorsFormat: 'curlyBrace',
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  enumMembersFormat: 'table',
  tableColumnSettings: {
    hideModifiers: true,
    hideOverrides: true,
    hideInherited: true,
    hideSources: true,
    leftAlignHeaders: true,
  },
  pageTitleTemplates: { index: 'API', module: ({ name }: { readonly name: string }) => name },
}

function entryPointsOf(name: string): readonly EntryPoint[] {
  const folder = join(repositoryFolder, 'packages', name)
  const manifest: { name: string; exports: { [path: string]: string | { [condition: string]: string } } } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    const source = typeof target === 'string' ? undefined : target['@unfold-mcp/source']
    return source === undefined ? [] : [{ specifier: join(manifest.name, path), file: join(folder, source) }]
  })
}

function specifierOf(module: DeclarationReflection, entryPoints: readonly EntryPoint[]): string {
  const file = module.project.files.getReflectionPath(module)
  const specifier = entryPoints.find((each) => each.file === file)?.specifier
  if (specifier === undefined) throw new Error(`No package exports ${file ?? module.name}`)
  return specifier
}

class SiteTheme extends MarkdownTheme {
  override getRenderContext(page: MarkdownPageEvent<Reflection>): MarkdownThemeContext {
    return new SiteContext(this, page, this.application.options)
  }
}

class SiteContext extends MarkdownThemeContext {
  constructor(theme: MarkdownTheme, page: MarkdownPageEvent<Reflection>, options: Options) {
    super(theme, page, options)
    const { signatureReturns } = this.partials
    this.partials = {
      ...this.partials,
      // Which interface a member comes from is on the line "Implements" of its class.
      inheritance: () => '',
      signatureReturns: (model, settings) =>
        model.type instanceof ReflectionType ? signatureReturns(model, settings) : this.#returns(model),
    }
  }

  /** One line instead of a heading of its own: the signature above shows the type already, but without links. */
  #returns(model: SignatureReflection): string {
    const comment = model.comment?.getTag('@returns')
    return `Returns: ${this.helpers.getReturnType(model.type)}${comment === undefined ? '' : ` ${this.helpers.getCommentParts(comment.content)}`}`
  }
}
