import { objectAt, stringAt } from '../kit/json.ts';
import { defineWire } from '../kit/wire.ts';

/** Errors are known by the name that the vendor gives them, of today or of old; the status alone would mislead. */
export const wire = defineWire({
  headers: ({ apiKey }) => ({ 'xi-api-key': apiKey }),
  faults: {
    // From the most exact to the least. What failed validation is a list, and its status says enough.
    codesIn: (body) => ['code', 'status', 'type'].map((key) => stringAt(objectAt(body, 'detail'), key)),
    codes: {
      client: [
        ...['invalid_parameters', 'invalid_output_format', 'invalid_audio_format', 'invalid_voice_settings'],
        ...['text_too_long', 'max_character_limit_exceeded', 'empty_text', 'validation_error'],
        // The caller chose the voice, and is not to shut the route for others by it.
        ...['voice_not_found', 'voice_does_not_exist', 'voice_id_does_not_exist', 'invalid_voice_id'],
        'voice_access_denied',
      ],
      account: [
        ...['invalid_api_key', 'missing_api_key', 'needs_authorization', 'missing_permissions'],
        // Out of credits, whether it comes as a refused login, an unpaid bill or a throttle.
        ...['quota_exceeded', 'insufficient_credits', 'paid_plan_required', 'detected_unusual_activity'],
        ...['authentication_error', 'authorization_error', 'payment_required'],
      ],
      config: ['model_not_found', 'unsupported_model'],
      rate: [
        ...['rate_limit_exceeded', 'concurrent_limit_exceeded', 'too_many_concurrent_requests', 'system_busy'],
        'rate_limit_error',
      ],
      policy: ['content_against_policy', 'blocked_generation', 'bad_prompt', 'bad_composition_plan'],
    },
    patterns: [
      [/moderat|polic(y|ies)/, 'policy'],
      // Only the operator can set one up.
      [/webhook/, 'config'],
    ],
  },
});
