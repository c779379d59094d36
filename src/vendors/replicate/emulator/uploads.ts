const UPLOAD = /^http:\/\/127\.0\.0\.1:\d+\/v1\/files\/file-\d+$/;

export function isUpload(address: string): boolean {
  return UPLOAD.test(address);
}

/** The content of a form with one file called `content`, and perhaps `metadata`; undefined for any other. */
export async function contentIn(type: string | undefined, bytes: Buffer): Promise<File | undefined> {
  if (type === undefined || !type.startsWith('multipart/form-data; boundary=')) return undefined;
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const isKnown = [...form.keys()].every((name) => name === 'content' || name === 'metadata');
  const content = form.get('content');
  return isKnown && content instanceof File && Buffer.byteLength(content.name) <= 255 ? content : undefined;
}
