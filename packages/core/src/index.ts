export {
  type Activation,
  type Because,
  type GroupCost,
  initialActivation,
  isActive,
  nothingActive,
  type Plan,
  planActivate,
  planAll,
  planDeactivate,
  reconcile,
  touch,
} from './activation.ts'
export { ByteLines } from './byte-lines.ts'
export { canonicalJson } from './canonical.ts'
export { buildCatalog, byVersion, type Catalog, type Clash } from './catalog.ts'
export { counted } from './count.ts'
export { discovery, type GroupOutline, metaKeys, type OutlinedTool, type ToolDescription } from './discovery.ts'
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
} from './entry.ts'
export { correctedArguments, exampleOf } from './example.ts'
export { type Evaluate, type FactSource, LiveFacts, rememberingEvaluate } from './facts.ts'
export { Failure, type FailureDetails, type FailureKind, isFailure, type Problem, type Reason, reasons } from './failure.ts'
export { fileNameFor } from './file-name.ts'
export { fingerprint, toolFingerprint } from './fingerprint.ts'
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
} from './form.ts'
export { generatedAbout } from './group-about.ts'
export {
  ancestorsOf,
  closureOf,
  declareGroups,
  type Group,
  type GroupDeclaration,
  type Groups,
  gateName,
  groupOf,
  noGroups,
  type Quota,
  unknownGroup,
} from './groups.ts'
export {
  type HostHint,
  type HostLimits,
  type HostProfile,
  hostByClientName,
  hostById,
  hostProfiles,
  type Relists,
} from './hosts.ts'
export { type IdentityBasis, identityOf, type Sha256, ToolSetIdentity, toolIdentity, valueIdentity } from './identity.ts'
export {
  availableModes,
  declareModes,
  isModeAvailable,
  isTelling,
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
} from './modes.ts'
export { checkGroupName, checkToolName, isToolName, nearest, nearestHint, printable, printableText } from './names.ts'
export { normalForm } from './normal-form.ts'
export { type Page, pageOf } from './pages.ts'
export { decodedHeader, headerMismatch, headerParameters, headerProblem } from './param-headers.ts'
export { isRecord } from './record.ts'
export { Ring, type RingLimits } from './ring.ts'
export type { Confidence } from './search/abstention.ts'
export { documentOf, type SearchDocument, type SearchParameter, type Whereabouts } from './search/document.ts'
export type { FieldName } from './search/fields.ts'
export { cosine, fuse, type SemanticMatch } from './search/fuse.ts'
export type { Via } from './search/ranking.ts'
export { searchHint } from './search/search-hint.ts'
export {
  type ExplainedWord,
  type Explanation,
  type SearchAnswer,
  SearchIndex,
  type SearchMatch,
  type SearchOptions,
} from './search/search-index.ts'
export { UsageMemory, type UsageNote } from './search/usage.ts'
export { Semaphore } from './semaphore.ts'
export { firstSentence, signature, typeText } from './signature.ts'
export { surfaceNames } from './surface.ts'
export { parseSwitch } from './switch.ts'
export { estimateTokens, toolTokens } from './tokens.ts'
export { facetOf, type JsonSchema, type Tool, type ToolAnnotations } from './tool.ts'
export { expandVariables, replaceVariables, type VariableProblem } from './variables.ts'
export {
  appended,
  type Exposure,
  isAvailable,
  isStrict,
  isSurface,
  isWaiting,
  type Look,
  listsEverything,
  type Meaning,
  resolve,
  snapshotOf,
  unavailableEntries,
  type View,
  viewFingerprint,
  viewOf,
} from './view.ts'
