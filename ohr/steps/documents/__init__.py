"""Steps from page images to the chunks of one document, with its noise and what that damages."""
