import type { Vendor } from '../vendor.ts';
import { image } from './image.ts';
import { music } from './music.ts';
import { video } from './video.ts';

export const fal: Vendor = { name: 'fal', address: 'origin', apiKey: 'required', image, video, music };
