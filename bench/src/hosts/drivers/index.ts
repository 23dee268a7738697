import { claudeCode, claudeCode197 } from './claude-code.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { continueCli } from './continue.ts'
import { copilotCli, copilotCliClaude } from './copilot-cli.ts'
import type { Driver } from './driver.ts'
import { geminiCli } from './gemini-cli.ts'
import { kilo } from './kilo.ts'
import { kimiCode } from './kimi-code.ts'
import { opencode } from './opencode.ts'
import { qwenCode } from './qwen-code.ts'

/** All hosts of the lab, in matrix order. */
export const drivers: readonly Driver[] = [
  claudeCode,
  claudeCode197,
  codex,
  geminiCli,
  opencode,
  qwenCode,
  copilotCli,
  copilotCliClaude,
  kilo,
  cline,
  continueCli,
  kimiCode,
]
