export { parseBoolean } from './base/boolean.ts'
export { ByteLines } from './base/byte-lines.ts'
export { canonicalJson } from './base/canonical.ts'
export { loadsCode } from './base/code-variables.ts'
export { decodeUri } from './base/decode-uri.ts'
export {
  Failure,
  type FailureDetails,
  type FailureKind,
  isFailure,
  isToolReason,
  locatedText,
  type Problem,
  type Reason,
  reasons,
  type ScriptLimit,
  type ToolReason,
} from './base/failure.ts'
export { fileNameFor } from './base/file-name.ts'
export { checkGroupName, checkToolName, isToolName, printable, printableText } from './base/names.ts'
export { maxNearestWork, nearest, nearestHint } from './base/nearest.ts'
export { normalForm } from './base/normalize.ts'
export { counted } from './base/plural.ts'
export { isRecord } from './base/record.ts'
export { Ring, type RingLimits } from './base/ring.ts'
export { confusableKey, confusableNames, plainLetter, unambiguous } from './base/similar-names.ts'
export {
  expandVariables,
  replaceVariables,
  type SecretReference,
  secretReference,
  secretReferencesIn,
  type VariableProblem,
} from './base/variables.ts'
export { buildCatalog, byVersion, type Catalog, type Clash } from './catalog/catalog.ts'
export { surfaceNames } from './catalog/surface.ts'
export {
  appended,
  awaitsPrerequisite,
  computeView,
  type Exposure,
  findsTools,
  isAvailable,
  isStrict,
  isSurface,
  listsEverything,
  type Resolution,
  resolve,
  snapshotOf,
  unavailableEntries,
  type View,
  type ViewInputs,
  viewFingerprint,
} from './catalog/view.ts'
export { Semaphore } from './fairness/semaphore.ts'
export { type SharePath, Shares } from './fairness/shares.ts'
export {
  type Activation,
  type DeactivationReason,
  type GroupCost,
  initialActivation,
  isActive,
  nothingActive,
  type Plan,
  planActivate,
  planActivateAll,
  planDeactivate,
  reconcile,
  touch,
} from './groups/activation.ts'
export { generateDescription } from './groups/description.ts'
export {
  ancestorsOf,
  declareGroups,
  type Group,
  type GroupDeclaration,
  type Groups,
  gateName,
  groupOf,
  type Quota,
  unknownGroup,
} from './groups/groups.ts'
export {
  isLiteralSecret,
  isSecretName,
  masked,
  maskedArgs,
  maskedLine,
  maskedText,
  maskedUrl,
  maskedVariable,
} from './masking/mask.ts'
export {
  type ClientEntry,
  type ClientKind,
  clientKinds,
  entryText,
  type PastedKind,
  pastedKinds,
} from './protocol/client-kinds.ts'
export { discovery, type GroupOutline, metaKeys, type OutlinedTool, type ToolDescription } from './protocol/discovery.ts'
export {
  type HostHint,
  type HostLimits,
  type HostProfile,
  hostByClientName,
  hostById,
  hostProfiles,
  type Relists,
} from './protocol/hosts.ts'
export { type Page, pageOf } from './protocol/pages.ts'
export { correctArguments, exampleOf } from './schema/example.ts'
export {
  type Branch,
  type Choice,
  type Constraints,
  type Field,
  type FieldKind,
  type Form,
  type FormBudget,
  fieldsIn,
  formOf,
} from './schema/form.ts'
export { Exhausted, Meter } from './schema/meter.ts'
export { mergedShapes, type ObservedShape, schemaOfShape, shapeOf } from './schema/observed-shape.ts'
export { allowedValues, literalText } from './schema/problem-text.ts'
export { References, startsDocument } from './schema/references.ts'
export { declarationsOf, type ToolDeclaration } from './schema/typescript.ts'
export { type CostOptions, type Excess, ValidationCost } from './schema/validation-cost.ts'
export type { Confidence } from './search/confidence.ts'
export { type DocumentContext, documentOf, type SearchDocument, type SearchParameter } from './search/document.ts'
export type { FieldName } from './search/fields.ts'
export { cosine, fuse, type SemanticMatch } from './search/fuse.ts'
export { type WeightedWords, wordsOfQuery, wordsOfTool } from './search/meaning/words.ts'
export type { Via } from './search/scoring/ranking.ts'
export { similarPlaces } from './search/scoring/selection.ts'
export { searchHint } from './search/search-hint.ts'
export { SearchIndex } from './search/search-index.ts'
export type {
  ExplainedWord,
  Explanation,
  SearchMatch,
  SearchOptions,
  SearchResult,
} from './search/search-result.ts'
export { UsageMemory, type UsageRecord } from './search/usage.ts'
export {
  always,
  type Entry,
  type Facts,
  group,
  type Origin,
  type Predicate,
  type Snapshot,
  type Surface,
  type Visibility,
  when,
} from './tool/entry.ts'
export { type Evaluate, type FactSource, LiveFacts, memoizedEvaluate } from './tool/facts.ts'
export { fingerprint, toolFingerprint } from './tool/fingerprint.ts'
export { type IdentityBasis, identityOf, type Sha256, ToolSetIdentity, toolIdentity, valueIdentity } from './tool/identity.ts'
export {
  availableModes,
  declareModes,
  hasModeMeta,
  isModeAvailable,
  type Mode,
  type ModeDeclaration,
  type ModeMeta,
  type ModePolicy,
  type ModeSet,
  type Modes,
  type ModesDeclaration,
  modeMeta,
  modeNames,
  whenEmpty,
} from './tool/modes.ts'
export { decodeHeader, headerMismatch, headerParameters, headerProblem } from './tool/param-headers.ts'
export { firstSentence, signature, typeText } from './tool/signature.ts'
export { estimateTokens, toolTokens } from './tool/tokens.ts'
export { facetOf, isTool, type JsonSchema, type Tool, type ToolAnnotations } from './tool/tool.ts'
