import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core';

// The design language is written down in ../README.md; this is its only copy in code.

/** Text and controls: from paper to ink, a little blue. */
const INK: MantineColorsTuple = [
  '#f4f5f8',
  '#e6e9ef',
  '#d0d5df',
  '#b3bac8',
  '#8d96a8',
  '#6c7588',
  '#555e70',
  '#3c4454',
  '#2a3140',
  '#1d2330',
];

/** The one accent: the red of the barrier. */
const GATE: MantineColorsTuple = [
  '#fdefed',
  '#f9dcd9',
  '#f2b5af',
  '#ea8b82',
  '#e2675c',
  '#d94e43',
  '#c8362f',
  '#a92b25',
  '#8b241f',
  '#6f1d19',
];

/** Surfaces of the dark scheme, brightest first, as Mantine wants them. */
const DARK: MantineColorsTuple = [
  '#e8eaf0',
  '#c3c9d5',
  '#9aa3b5',
  '#6f7a90',
  '#3d4556',
  '#2d3442',
  '#222835',
  '#1a1f2a',
  '#141821',
  '#0f1219',
];

export const theme = createTheme({
  colors: { ink: INK, gate: GATE, dark: DARK },
  primaryColor: 'ink',
  primaryShade: { light: 9, dark: 1 },
  autoContrast: true,
  // The library picks the text of a filled button by its light colour alone, and ours is light in the dark scheme.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input);
    const isMain = input.variant === 'filled' && (input.color ?? 'ink') === 'ink';
    return isMain ? { ...colors, color: 'var(--mantine-primary-color-contrast)' } : colors;
  },
  black: '#1d2330',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "Cascadia Code", "DejaVu Sans Mono", Menlo, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.875rem', md: '1rem', lg: '1.125rem', xl: '1.375rem' },
  headings: {
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.375rem', lineHeight: '1.25' }, h2: { fontSize: '1.0625rem', lineHeight: '1.3' } },
  },
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2.25rem' },
  defaultRadius: 'md',
  radius: { sm: '6px', md: '9px', lg: '14px' },
  cursorType: 'pointer',
  focusRing: 'auto',
});
