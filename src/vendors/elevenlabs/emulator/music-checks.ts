import { isObject } from '../../emulator/json.ts';
import { type Check, isFlag, isOneOf, isText, isWhole, isWithin } from '../../openai/emulator/checks.ts';
import { ERRORS, type Refusal } from './errors.ts';

type Json = Record<string, unknown>;

const isLength: Check = (value) => isWhole(value) && isWithin(3_000, 120_000)(value);
const isLines: Check = (value) =>
  Array.isArray(value) && value.length <= 30 && value.every((line) => isText(line) && String(line).length <= 200);
const isStyles: Check = (value) => Array.isArray(value) && value.every(isText);
const isChunkText: Check = (value) => isText(value) && isLines(String(value).split('\n').slice(1));

const SECTION: Readonly<Record<string, Check>> = {
  section_name: (value) => isText(value) && isWithin(1, 100)(String(value).length),
  positive_local_styles: isStyles,
  negative_local_styles: isStyles,
  duration_ms: isLength,
  lines: isLines,
};
const CHUNK: Readonly<Record<string, Check>> = {
  text: isChunkText,
  duration_ms: isLength,
  positive_styles: isStyles,
  negative_styles: isStyles,
};
const SECTION_PLAN: Readonly<Record<string, Check>> = {
  positive_global_styles: isStyles,
  negative_global_styles: isStyles,
  sections: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => isOf(each, SECTION)),
};
const CHUNK_PLAN: Readonly<Record<string, Check>> = {
  chunks: (value) => Array.isArray(value) && value.length > 0 && value.every((each) => isOf(each, CHUNK)),
};

/** Every field of a plan is required. */
function isOf(value: unknown, checks: Readonly<Record<string, Check>>): boolean {
  if (!isObject(value)) return false;
  const names = Object.keys(value);
  return names.length === Object.keys(checks).length && names.every((name) => checks[name]?.(value[name]) === true);
}

export const MUSIC_FIELDS: Readonly<Record<string, Check>> = {
  prompt: isText,
  composition_plan: (value) => isOf(value, SECTION_PLAN) || isOf(value, CHUNK_PLAN),
  music_length_ms: (value) => isWhole(value) && isWithin(3_000, 600_000)(value),
  model_id: isOneOf('music_v1', 'music_v2', 'music_v2_5'),
  seed: (value) => isWhole(value) && isWithin(0, 2_147_483_647)(value),
  force_instrumental: isFlag,
  finetune_id: isText,
  respect_sections_durations: isFlag,
  store_for_inpainting: isFlag,
  sign_with_c2pa: isFlag,
};

/** What may not stand together, or not with this model. */
export function refusalOfSong(fields: Json): Refusal | undefined {
  const { prompt, composition_plan: plan, model_id: model = 'music_v1' } = fields;
  if ((prompt == null) === (plan == null)) return ERRORS.invalid;
  if (prompt === '') return ERRORS.emptyText;
  const onlyWithPrompt = ['music_length_ms', 'force_instrumental'];
  if (plan != null && onlyWithPrompt.some((name) => fields[name] != null)) return ERRORS.invalid;
  if (prompt != null && fields.seed != null) return ERRORS.invalid;
  const isOfSections = isOf(plan, SECTION_PLAN);
  return plan != null && isOfSections !== (model === 'music_v1') ? ERRORS.badPlan : undefined;
}

/** In seconds; what the vendor chooses where nothing was asked for is short. */
export function songSeconds({ music_length_ms: ms, composition_plan: plan }: Json): number {
  if (ms != null) return Number(ms) / 1000;
  const { sections = [], chunks = [] } = (plan ?? {}) as { sections?: Json[]; chunks?: Json[] };
  const total = [...sections, ...chunks].reduce((sum, { duration_ms }) => sum + Number(duration_ms), 0);
  return total === 0 ? 3 : total / 1000;
}
