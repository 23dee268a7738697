/**
 * Shows the simplest form of progressive discovery, one gate: a new client sees only `activate`, and calling it reveals all tools.
 * The tools work on source text that the client passes in; they use brackets, indentation and patterns, and mark estimates as
 * such.
 *
 *   npm run -s example -- code-intelligence                  over standard input and output
 *   npm run -s example -- code-intelligence --http 8000      at http://127.0.0.1:8000/mcp
 */
import { defineToolbox } from '@unfold-mcp/server'
import { z } from 'zod'
import { analysisSchema, analyze } from './analysis.ts'
import { audit, auditSchema } from './dependencies.ts'
import { document, documentationSchema } from './documentation.ts'
import { limitsSchema, refactor, refactoringSchema } from './refactoring.ts'
import { scan, securitySchema } from './security.ts'
import { languages, readSource } from './source.ts'

const languageSchema = z.enum(languages)
const sourceSchema = z.string().max(100_000).describe('The source text')

// The tools read only the text that is passed in, and change nothing.
const pure = { readOnly: true, openWorld: false } as const

export function codeIntelligence() {
  return defineToolbox({
    name: 'code-intelligence',
    version: '1.0.0',
    description: 'Advanced code intelligence server. Call activate to access the analysis tools.',
    gate: 'Activate the code intelligence suite, which works on source text that you pass in',
  })
    .tool(
      'analyze',
      {
        description: 'Deep code structure analysis: functions with length, nesting and complexity, classes, imports, lines.',
        inputSchema: z.object({ source: sourceSchema, language: languageSchema }),
        outputSchema: analysisSchema,
        ...pure,
      },
      ({ source, language }) => analyze(readSource(language, source)),
    )
    .tool(
      'refactor',
      {
        description: 'Automated refactoring suggestions, with lines: long or deep functions, duplicate blocks, magic numbers.',
        inputSchema: z.object({ source: sourceSchema, language: languageSchema, limits: limitsSchema.prefault({}) }),
        outputSchema: refactoringSchema,
        ...pure,
      },
      ({ source, language, limits }) => ({ suggestions: refactor(readSource(language, source), limits) }),
    )
    .tool(
      'document',
      {
        description: 'Generate documentation: doc comments to fill in, for exported functions that have none.',
        inputSchema: z.object({
          source: sourceSchema,
          language: languageSchema,
          all: z.boolean().default(false).describe('Whether functions that are not exported count'),
        }),
        outputSchema: documentationSchema,
        ...pure,
      },
      ({ source, language, all }) => document(readSource(language, source), all),
    )
    .tool(
      'security_scan',
      {
        description: 'Find security vulnerabilities by pattern, with line, severity and advice.',
        inputSchema: z.object({ source: sourceSchema, language: languageSchema }),
        outputSchema: securitySchema,
        ...pure,
      },
      ({ source, language }) => scan(readSource(language, source)),
    )
    .tool(
      'dependency_audit',
      {
        description: 'Analyze dependencies: what a package.json asks for that may change or disappear.',
        inputSchema: z.object({ manifest: z.string().max(100_000).describe('The text of a package.json') }),
        outputSchema: auditSchema,
        ...pure,
      },
      ({ manifest }) => audit(manifest),
    )
}
