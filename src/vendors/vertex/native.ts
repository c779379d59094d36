import { UpstreamError } from '../../errors.ts';
import { nativeOver } from '../formats/generate-content/index.ts';
import type { NativeRequest, NativeWork } from '../vendor.ts';
import { wire } from './wire.ts';

const plain = nativeOver(wire);

/** Gemini's own format, passed on as it came. */
export const native: NativeWork = {
  async call(request, upstream) {
    refuseForeign(request);
    return plain.call(request, upstream);
  },
  async stream(request, upstream) {
    refuseForeign(request);
    return plain.stream(request, upstream);
  },
};

/** Names that only the Developer API has, and files that were uploaded there: another upstream may take them. */
const FOREIGN =
  /"(fileSearch|file_search|toolCall|toolResponse|partMetadata|store|mediaProcessing|includeServerSideToolInvocations|enableEnhancedCivicAnswers)"\s*:|"(fileUri|file_uri)"\s*:\s*"(https:\/\/generativelanguage\.googleapis\.com\/|files\/)|"generateContentRequest"\s*:/;

function refuseForeign({ body }: NativeRequest): void {
  const [found] = FOREIGN.exec(body.toString('utf8')) ?? [];
  if (found !== undefined) throw new UpstreamError('unfit', `${found} is known to the Developer API only`);
}
