/**
 * The catalogue of a gateway that was given no configuration: every route and every pricing mode, served on this
 * machine without a key. The models' descriptions say so.
 */
export const BUILT_IN_CATALOGUE = `
upstreams:
  - id: sandbox
    vendor: sandbox

models:
  - id: sandbox/chat
    modality: chat
    owned_by: tollgate
    display_name: Sandbox chat
    description: Built-in sandbox. Streams made-up replies without asking any model.
    tags: [sandbox]
    endpoints: [chat]
    context_tokens: 32768
    max_output_tokens: 4096
    pricing:
      mode: per_token
      credits: { input_per_k: 1, cached_per_k: 0.25, output_per_k: 4, reasoning_per_k: 4 }
    routes:
      - { upstream: sandbox, model: chat }

  - id: sandbox/native
    modality: chat
    owned_by: tollgate
    display_name: Sandbox native
    description: Built-in sandbox. Answers the native format with made-up replies.
    tags: [sandbox]
    endpoints: [native]
    context_tokens: 32768
    max_output_tokens: 4096
    pricing:
      mode: per_token
      credits: { input_per_k: 1, cached_per_k: 0.25, output_per_k: 4, reasoning_per_k: 4 }
    routes:
      - { upstream: sandbox, model: native }

  - id: sandbox/embedding
    modality: chat
    owned_by: tollgate
    display_name: Sandbox embedding
    description: >-
      Built-in sandbox. Turns texts into vectors by the words and the letters in them: texts that share words are near each
      other, in any order, case or spelling.
    tags: [sandbox]
    endpoints: [embeddings]
    context_tokens: 8192
    pricing:
      mode: per_token
      credits: { input_per_k: 0.1, output_per_k: 0 }
    routes:
      - { upstream: sandbox, model: embedding }

  - id: sandbox/image
    modality: image
    owned_by: tollgate
    display_name: Sandbox image
    description: Built-in sandbox. Draws pictures that show the prompt, the size and the seed.
    tags: [sandbox]
    endpoints: [images, image_edits]
    pricing:
      mode: per_image
      credits: { base: 10 }
      resolution_ratio: { 1k: 1, 2k: 2, 4k: 4 }
      quality_ratio: { low: 0.5, standard: 1, medium: 1, auto: 1, high: 2, hd: 2 }
    accepts:
      resolutions: [1k, 2k, 4k]
      aspect_ratios: ["1:1", "3:2", "2:3", "4:3", "3:4", "16:9", "9:16"]
      sizes: [256x256, 512x512, 1024x1024, 1536x1024, 1024x1536, 1792x1024, 1024x1792, auto]
      n_max: 10
      slots: [reference_images, mask]
      formats: [png, jpeg, webp]
    routes:
      - { upstream: sandbox, model: image }

  - id: sandbox/video
    modality: video
    owned_by: tollgate
    display_name: Sandbox video
    description: Built-in sandbox. Makes short playable clips, with sound when asked.
    tags: [sandbox]
    endpoints: [videos]
    pricing:
      mode: per_second
      credits: { per_second: 20 }
      resolution_ratio: { 480p: 0.5, 720p: 1, 1080p: 2 }
      flag_ratio: { generate_audio: 1.5 }
    accepts:
      resolutions: [480p, 720p, 1080p]
      aspect_ratios: ["16:9", "9:16", "1:1", "4:3", "3:4"]
      sizes: [854x480, 480x854, 1280x720, 720x1280, 1920x1080, 1080x1920]
      seconds_max: 15
      slots:
        - first_frame
        - last_frame
        - input_reference
        - reference_images
        - reference_videos
        - reference_audios
        - ref_video
        - generate_audio
    routes:
      - { upstream: sandbox, model: video }

  - id: sandbox/speech
    modality: audio
    owned_by: tollgate
    display_name: Sandbox speech
    description: >-
      Built-in sandbox. Reads English aloud with a synthesiser on this machine. Voices are rms, slt, awb, kal16 and kal;
      the usual names such as alloy stand for one of them.
    tags: [sandbox]
    endpoints: [audio_speech]
    pricing:
      mode: per_k_char
      credits: { base: 15 }
    accepts:
      formats: [mp3, wav, pcm, opus, flac, aac, ogg]
    routes:
      - { upstream: sandbox, model: speech }

  - id: sandbox/voice-design
    modality: audio
    owned_by: tollgate
    display_name: Sandbox voice design
    description: >-
      Built-in sandbox. Proposes three voices for a description; each one's id may then be given as reference_id.
    tags: [sandbox]
    endpoints: [audio_speech]
    pricing:
      mode: per_k_char
      credits: { base: 15 }
    accepts:
      voice_design: true
      formats: [mp3, wav, pcm, opus, flac, aac, ogg]
    routes:
      - { upstream: sandbox, model: voice-design }

  - id: sandbox/voice-clone
    modality: audio
    owned_by: tollgate
    display_name: Sandbox voice clone
    description: >-
      Built-in sandbox. Needs a voice sample and reads English aloud in a voice of its own for each sample, which is no
      likeness of it.
    tags: [sandbox]
    endpoints: [audio_speech]
    pricing:
      mode: per_k_char
      credits: { base: 15 }
    accepts:
      voice_sample: required
      formats: [mp3, wav, pcm, opus, flac, aac, ogg]
    routes:
      - { upstream: sandbox, model: voice-clone }

  - id: sandbox/music
    modality: audio
    owned_by: tollgate
    display_name: Sandbox music
    description: Built-in sandbox. Composes short pieces.
    tags: [sandbox]
    endpoints: [audio_music]
    pricing:
      mode: per_request
      credits: { base: 50 }
    accepts:
      seconds_max: 60
      formats: [mp3, wav, opus, flac, aac, ogg]
    routes:
      - { upstream: sandbox, model: music }

  - id: sandbox/transcribe
    modality: audio
    owned_by: tollgate
    display_name: Sandbox transcription
    description: >-
      Built-in sandbox. Writes down what is said in English in a recording of up to 30 minutes, with a recogniser on
      this machine. Takes WAV, MP3, FLAC, Ogg, and WebM or MP4 with the same codecs; AAC it cannot read.
    tags: [sandbox]
    endpoints: [transcriptions]
    pricing:
      mode: per_audio_second
      credits: { per_second: 0.1 }
    routes:
      - { upstream: sandbox, model: transcribe }
`;
