import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { documentWarnings, parseDocument } from '../src/configuration/index.ts';
import { readDocument } from '../src/start-configuration.ts';
import { vendors } from '../src/vendors/index.ts';
import { loadedVendors } from './support/loaded-vendors.ts';

// Every file that an operator is told to paste is a configuration as it is.

/** What of a vendor serves an endpoint. */
const WORKS = {
  chat: 'chat',
  native: 'native',
  embeddings: 'embedding',
  images: 'image',
  image_edits: 'image',
  videos: 'video',
  audio_music: 'music',
  audio_speech: 'speech',
  transcriptions: 'transcription',
} as const;

const files = globSync('examples/*.yaml').sort();

test('there are examples', () => assert.ok(files.length > 0));

for (const file of files) {
  describe(file, () => {
    const document = parseDocument(readDocument(file), vendors);

    test('is valid, warns of nothing and holds no key', () => {
      assert.deepEqual(documentWarnings(document), []);
      assert.ok(document.upstreams.length > 0 && document.models.length > 0);
    });

    test('every upstream of a model can do each of its endpoints', () => {
      const vendorOf = new Map(
        document.upstreams.map(({ id, vendor }) => [id, loadedVendors.find(({ name }) => name === vendor)]),
      );
      for (const { id, endpoints, routes } of document.models) {
        for (const endpoint of endpoints) {
          for (const { upstream } of routes)
            assert.ok(vendorOf.get(upstream)?.[WORKS[endpoint]], `${id}: ${upstream} has no ${endpoint}`);
        }
      }
    });
  });
}
