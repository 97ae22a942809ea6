"""Scrapy as its documentation does it: follows every link of one site and writes the bodies to one file."""

import scrapy


class Links(scrapy.Spider):
    name = "links"
    custom_settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "USER_AGENT": "corpora-bench/1.0",
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
    }

    def __init__(self, url: str, file: str) -> None:
        self.start_urls = [url]
        self.file = open(file, "wb")

    async def start(self):
        for url in self.start_urls:
            yield scrapy.Request(url)

    def parse(self, response):
        self.file.write(response.body)
        for href in response.css("a::attr(href)").getall():
            target = response.urljoin(href)
            if target.startswith(self.start_urls[0]):
                yield scrapy.Request(target)

    def closed(self, _reason) -> None:
        self.file.close()
